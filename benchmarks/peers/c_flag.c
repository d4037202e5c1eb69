/* C-FLAG on components phi(a.x - b), phi the Cauchy potential, equal client weights: fused passes, no BLAS.

   A group of REPLICAS replicas walks together over the rows, TILE of them at a time, so that a row, an iterate and a
   gradient are read once for several products. With SQUARE, four replicas and four rows meet in registers, as in a
   matrix product. All rounds of a group run on one thread. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef TILE
#define TILE 4
#endif
#ifndef REPLICAS
#define REPLICAS 1
#endif

#ifndef SQUARE
#define SQUARE 0
#endif

typedef struct {
    int64_t N, n, d, E, K;
    double alpha, beta;
    const double *rows, *targets, *past_rows, *past_targets, *start;
} Problem;

static inline double slope(double z) { return z / (1 + 0.5 * z * z); }

/* gradient[r] += factor * sum over `count` rows of phi'(row.x_r - target) row; slopes go to table[r * table_step + q]
   where there is a table. `index` names the rows, or is NULL for 0, 1, ..., count - 1. */
static inline void pass(int64_t count, int64_t d, const double *restrict rows, const double *restrict targets,
                        const int64_t *restrict index, double factor, int group, const double *restrict x,
                        double *restrict gradient, int64_t gradient_step, double *restrict table, int64_t table_step)
{
    for (int64_t q = 0; q < count; q += TILE) {
        const int tile = count - q < TILE ? (int)(count - q) : TILE;
        const double *row[TILE];
        double target[TILE];
        for (int s = 0; s < TILE; s++) {
            const int64_t j = s < tile ? (index ? index[q + s] : q + s) : (index ? index[q] : q);
            row[s] = rows + j * d;
            target[s] = targets[j];
        }
        for (int r = 0; r < group; r++) {
            const double *restrict y = x + r * d;
            double *restrict g = gradient + r * gradient_step;
            double z[TILE], scaled[TILE];
#if TILE == 4
            double z0 = 0, z1 = 0, z2 = 0, z3 = 0;
            const double *restrict a0 = row[0], *restrict a1 = row[1], *restrict a2 = row[2], *restrict a3 = row[3];
#pragma omp simd reduction(+ : z0, z1, z2, z3)
            for (int64_t c = 0; c < d; c++) {
                z0 += a0[c] * y[c];
                z1 += a1[c] * y[c];
                z2 += a2[c] * y[c];
                z3 += a3[c] * y[c];
            }
            z[0] = z0, z[1] = z1, z[2] = z2, z[3] = z3;
#elif TILE == 2
            double z0 = 0, z1 = 0;
            const double *restrict a0 = row[0], *restrict a1 = row[1];
#pragma omp simd reduction(+ : z0, z1)
            for (int64_t c = 0; c < d; c++) {
                z0 += a0[c] * y[c];
                z1 += a1[c] * y[c];
            }
            z[0] = z0, z[1] = z1;
#else
            double z0 = 0;
            const double *restrict a0 = row[0];
#pragma omp simd reduction(+ : z0)
            for (int64_t c = 0; c < d; c++) z0 += a0[c] * y[c];
            z[0] = z0;
#endif
            for (int s = 0; s < TILE; s++) {
                const double value = slope(z[s] - target[s]);
                if (table && s < tile) table[r * table_step + q + s] = value;
                scaled[s] = s < tile ? factor * value : 0.0;
            }
#pragma omp simd
            for (int64_t c = 0; c < d; c++) {
#if TILE == 4
                g[c] += scaled[0] * a0[c] + scaled[1] * a1[c] + scaled[2] * a2[c] + scaled[3] * a3[c];
#elif TILE == 2
                g[c] += scaled[0] * a0[c] + scaled[1] * a1[c];
#else
                g[c] += scaled[0] * a0[c];
#endif
            }
        }
    }
}

#if SQUARE
/* The same for four replicas from r = 0 on and `count` rows, a multiple of four, without an index. */
static inline void square_pass(int64_t count, int64_t d, const double *restrict rows, const double *restrict targets,
                               double factor, const double *restrict x, double *restrict gradient,
                               int64_t gradient_step, double *restrict table, int64_t table_step)
{
    const double *restrict x0 = x, *restrict x1 = x + d, *restrict x2 = x + 2 * d, *restrict x3 = x + 3 * d;
    double *restrict g0 = gradient, *restrict g1 = gradient + gradient_step;
    double *restrict g2 = gradient + 2 * gradient_step, *restrict g3 = gradient + 3 * gradient_step;
    for (int64_t q = 0; q < count; q += 4) {
        const double *restrict a0 = rows + q * d, *restrict a1 = a0 + d, *restrict a2 = a1 + d, *restrict a3 = a2 + d;
        double z00 = 0, z01 = 0, z02 = 0, z03 = 0, z10 = 0, z11 = 0, z12 = 0, z13 = 0;
        double z20 = 0, z21 = 0, z22 = 0, z23 = 0, z30 = 0, z31 = 0, z32 = 0, z33 = 0;
#pragma omp simd reduction(+ : z00, z01, z02, z03, z10, z11, z12, z13, z20, z21, z22, z23, z30, z31, z32, z33)
        for (int64_t c = 0; c < d; c++) {
            z00 += x0[c] * a0[c], z01 += x0[c] * a1[c], z02 += x0[c] * a2[c], z03 += x0[c] * a3[c];
            z10 += x1[c] * a0[c], z11 += x1[c] * a1[c], z12 += x1[c] * a2[c], z13 += x1[c] * a3[c];
            z20 += x2[c] * a0[c], z21 += x2[c] * a1[c], z22 += x2[c] * a2[c], z23 += x2[c] * a3[c];
            z30 += x3[c] * a0[c], z31 += x3[c] * a1[c], z32 += x3[c] * a2[c], z33 += x3[c] * a3[c];
        }
        const double z[4][4] = {
            {z00, z01, z02, z03}, {z10, z11, z12, z13}, {z20, z21, z22, z23}, {z30, z31, z32, z33}};
        double s[4][4];
        for (int r = 0; r < 4; r++)
            for (int k = 0; k < 4; k++) {
                const double value = slope(z[r][k] - targets[q + k]);
                table[r * table_step + q + k] = value;
                s[r][k] = factor * value;
            }
#pragma omp simd
        for (int64_t c = 0; c < d; c++) {
            g0[c] += s[0][0] * a0[c] + s[0][1] * a1[c] + s[0][2] * a2[c] + s[0][3] * a3[c];
            g1[c] += s[1][0] * a0[c] + s[1][1] * a1[c] + s[1][2] * a2[c] + s[1][3] * a3[c];
            g2[c] += s[2][0] * a0[c] + s[2][1] * a1[c] + s[2][2] * a2[c] + s[2][3] * a3[c];
            g3[c] += s[3][0] * a0[c] + s[3][1] * a1[c] + s[3][2] * a2[c] + s[3][3] * a3[c];
        }
    }
}
#endif

/* grad g_i of a group and its slopes: rows a block at a time, so that every replica meets them in the nearest cache. */
static inline void client_gradients(const Problem *p, int64_t i, int group, const double *x, double *grads, double *table)
{
    const int64_t N = p->N, n = p->n, d = p->d;
    const double *rows = p->rows + i * n * d, *targets = p->targets + i * n;
    const double factor = 1.0 / (double)n;
    int done = 0;
    int64_t covered = 0;
#if SQUARE
    const int64_t near = 4096 / d / 4 * 4, block = near < 4 ? 4 : near;
    done = group / 4 * 4;
    covered = n / 4 * 4;
    for (int64_t q = 0; q < covered; q += block) {
        const int64_t count = covered - q < block ? covered - q : block;
        for (int r = 0; r < done; r += 4)
            square_pass(count, d, rows + q * d, targets + q, factor, x + r * d, grads + (r * N + i) * d, N * d,
                        table + (r * N + i) * n + q, N * n);
    }
#endif
    if (done > 0 && covered < n)
        pass(n - covered, d, rows + covered * d, targets + covered, NULL, factor, done, x, grads + i * d, N * d,
             table + i * n + covered, N * n);
    if (done < group)
        pass(n, d, rows, targets, NULL, factor, group - done, x + done * d, grads + (done * N + i) * d, N * d,
             table + (done * N + i) * n, N * n);
}

/* Client i's local steps from x; `moved` += (x_E - x) / N. One sweep over d a step: direction, iterate, next product. */
static inline void local_steps(const Problem *p, int64_t i, const int32_t *restrict order, const double *restrict x,
                               double *restrict table, double *restrict direction, double *restrict local,
                               double *restrict moved)
{
    const int64_t d = p->d;
    const double beta = p->beta, share = 1.0 / (double)p->N, inverse = 1.0 / (double)p->n;
    const double *restrict rows = p->rows + i * p->n * d, *restrict targets = p->targets + i * p->n;
    const double *restrict row = rows;
    double weight = 0.0;
    memcpy(local, x, (size_t)d * sizeof(double));
    for (int64_t k = 0; k < p->E; k++) {
        const int64_t next = k + 1 < p->E ? order[k + 1] : order[k];
        const double *restrict ahead = rows + next * d;
        double z = 0.0;
#pragma omp simd reduction(+ : z)
        for (int64_t c = 0; c < d; c++) {
            direction[c] += weight * row[c];
            local[c] -= beta * direction[c];
            z += ahead[c] * local[c];
        }
        const double now = slope(z - targets[next]);
        weight = (now - table[next]) * inverse;
        table[next] = now;
        row = ahead;
    }
#pragma omp simd
    for (int64_t c = 0; c < d; c++) moved[c] += share * (local[c] - x[c]);
}

/* All rounds of `group` replicas from replica `first` on. */
static int run_group(const Problem *p, int64_t rounds, int64_t R, int64_t first, int group, const int64_t *kept,
                     const int32_t *orders, double *out)
{
    const int64_t N = p->N, n = p->n, d = p->d, E = p->E, K = p->K;
    const size_t vector = (size_t)d * sizeof(double);
    double *x = malloc((size_t)group * vector), *grads = malloc((size_t)(group * N) * vector);
    double *memory = malloc((size_t)group * vector), *table = malloc((size_t)(group * N * n) * sizeof(double));
    double *work = malloc(4 * vector);
    if (!x || !grads || !memory || !table || !work) return 1;
    double *mean = work, *direction = work + d, *local = work + 2 * d, *moved = work + 3 * d;
    for (int r = 0; r < group; r++) memcpy(x + r * d, p->start, vector);

    for (int64_t t = 0; t < rounds; t++) {
        memset(memory, 0, (size_t)group * vector);
        memset(grads, 0, (size_t)(group * N) * vector);
        for (int64_t i = 0; i < N; i++) {
            for (int r = 0; r < group; r++)
                pass(K, d, p->past_rows + i * n * d, p->past_targets + i * n, kept + ((first + r) * N + i) * K,
                     1.0 / (double)(N * K), 1, x + r * d, memory + r * d, 0, NULL, 0);
            client_gradients(p, i, group, x, grads, table);
        }
        for (int r = 0; r < group; r++) {
            double *restrict here = x + r * d;
            const int32_t *order = orders + ((t * R + first + r) * N) * E;
            memset(mean, 0, vector);
            memset(moved, 0, vector);
            for (int64_t i = 0; i < N; i++)
                for (int64_t c = 0; c < d; c++) mean[c] += grads[(r * N + i) * d + c] / (double)N;
            for (int64_t i = 0; i < N; i++) {
                /* The delayed gradient starts at grad g_i, and u = grad g - grad g_i. */
                memcpy(direction, mean, vector);
                local_steps(p, i, order + i * E, here, table + (r * N + i) * n, direction, local, moved);
            }
            for (int64_t c = 0; c < d; c++) here[c] += moved[c] - p->alpha * memory[r * d + c];
        }
    }
    memcpy(out + first * d, x, (size_t)group * vector);
    free(x), free(grads), free(memory), free(table), free(work);
    return 0;
}

/* x_T of R replicas into out (R, d); orders (rounds, R, N, E), kept (R, N, K). Not 0: no memory. */
int c_flag(int64_t R, int64_t N, int64_t n, int64_t d, int64_t E, int64_t K, int64_t rounds, double alpha, double beta,
           const double *rows, const double *targets, const double *past_rows, const double *past_targets,
           const double *start, const int64_t *kept, const int32_t *orders, int threads, double *out)
{
    const Problem p = {N, n, d, E, K, alpha, beta, rows, targets, past_rows, past_targets, start};
    int failed = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(| : failed)
    for (int64_t first = 0; first < R; first += REPLICAS) {
        const int group = R - first < REPLICAS ? (int)(R - first) : REPLICAS;
        failed |= run_group(&p, rounds, R, first, group, kept, orders, out);
    }
    return failed;
}
