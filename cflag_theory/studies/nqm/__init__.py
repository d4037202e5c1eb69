"""The noisy quadratic model of the CFL paper: Table 3 and Figure 2."""
