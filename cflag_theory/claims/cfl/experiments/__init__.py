"""CFL, Section 5 and Appendix C: the noisy quadratic model, data splits and tables."""
