/* C-FLAG on components phi(a.x - b), phi the Cauchy potential, equal client weights: vectors of the compiler, no BLAS.

   Full gradients of a group have a replica in every vector lane, BLOCK rows at a time; a replica alone has coordinates
   in the lanes, WIDTH rows at a time. Local steps are plain sweeps over d, or, with the table of the inner products of
   each client's rows, scalars: with z_k = a_k.x_k and direction D + sum over m of w_m a_m,

       z_k = a_k.x - beta (k a_k.D + sum over m < k of (k - m) w_m a_k.a_m).

   Rows are padded with zeros to `wide` entries, a multiple of eight, and aligned to 64 bytes; behind the current rows
   and targets stand PADDING rows of zeros. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX512F__
#define WIDTH 8
#define BLOCK 8
#else
#define WIDTH 4
#define BLOCK 6
#endif
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define PADDING 8
#define LANES (2 * WIDTH)
/* Local walks whose steps are interleaved, since each waits for its own slope. */
#define SWEEPS 3
#define CHAINS 4
/* Numbers in the memory rows of the clients that a group visits together. */
#define NEAR (1 << 17)

typedef double Vec __attribute__((vector_size(8 * WIDTH)));
#define AT(p) (*(Vec *)(p))
#define READ(p) (*(const Vec *)(p))
#define INLINE static inline __attribute__((always_inline))

typedef struct {
    int64_t R, N, n, d, wide, E, K, rounds;
    double alpha, beta;
    const double *rows, *targets, *past_rows, *past_targets, *start, *products;
    const int64_t *kept;
    const int32_t *orders;
} Problem;

/* Of a group: x, mean (grad g), moved (sum of all x_E - x) and memory (grad f_memory), each (group, wide); slopes, and
   with inner products z, (rows, stride), a column a replica. In lanes x and its gradient are (wide, stride), too. */
typedef struct {
    int64_t first;
    int group, stride;
    double *x, *mean, *moved, *memory, *slopes, *z, *lanes_x, *lanes_g, *scratch;
} Group;

/* A client's steps in one replica. */
typedef struct {
    const double *rows, *targets, *products, *x, *mean;
    const int32_t *order;
    double *z, *slopes, *moved;
} Walk;

INLINE Vec all(double value) { return value - (Vec){0}; }
INLINE double slope(double z) { return z / (1 + 0.5 * z * z); }
INLINE Vec slopes_of(Vec z) { return z / (1.0 + 0.5 * z * z); }

/* The sums of WIDTH vectors in the lanes of one. */
INLINE Vec sums(const Vec *z)
{
#if WIDTH == 8
    Vec u[4], v[2];
    for (int k = 0; k < 4; k++)
        u[k] = PICK(z[2 * k], z[2 * k + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
               PICK(z[2 * k], z[2 * k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int k = 0; k < 2; k++)
        v[k] = PICK(u[2 * k], u[2 * k + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
               PICK(u[2 * k], u[2 * k + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    return PICK(v[0], v[1], 0, 1, 2, 3, 8, 9, 10, 11) + PICK(v[0], v[1], 4, 5, 6, 7, 12, 13, 14, 15);
#else
    const Vec u = PICK(z[0], z[1], 0, 4, 2, 6) + PICK(z[0], z[1], 1, 5, 3, 7);
    const Vec v = PICK(z[2], z[3], 0, 4, 2, 6) + PICK(z[2], z[3], 1, 5, 3, 7);
    return PICK(u, v, 0, 1, 4, 5) + PICK(u, v, 2, 3, 6, 7);
#endif
}

INLINE double sum(Vec z)
{
#if WIDTH == 8
    z += PICK(z, z, 4, 5, 6, 7, 0, 1, 2, 3);
#endif
    return (z[0] + z[2]) + (z[1] + z[3]);
}

/* Products of WIDTH rows with y. */
INLINE Vec products_with(const double *const *row, const double *restrict y, int64_t wide)
{
    Vec z[WIDTH];
    for (int k = 0; k < WIDTH; k++) z[k] = all(0);
    for (int64_t c = 0; c < wide; c += WIDTH) {
        const Vec here = READ(y + c);
#pragma GCC unroll 8
        for (int k = 0; k < WIDTH; k++) z[k] += READ(row[k] + c) * here;
    }
    return sums(z);
}

/* target += sum over WIDTH rows of factor times row. */
INLINE void add_rows(const double *const *row, Vec factors, double *restrict target, int64_t wide)
{
    Vec f[WIDTH];
    for (int k = 0; k < WIDTH; k++) f[k] = all(factors[k]);
    for (int64_t c = 0; c < wide; c += WIDTH) {
        Vec one = READ(target + c), two = all(0);
#pragma GCC unroll 8
        for (int k = 0; k < WIDTH; k += 2) {
            one += f[k] * READ(row[k] + c);
            two += f[k + 1] * READ(row[k + 1] + c);
        }
        AT(target + c) = one + two;
    }
}

/* grad g of a replica alone, into its mean. */
static void gradient_alone(const Problem *p, Group *g)
{
    const double share = 1.0 / (double)(p->N * p->n);
    memset(g->mean, 0, (size_t)p->wide * sizeof(double));
    for (int64_t j = 0; j < p->N * p->n; j += WIDTH) {
        const double *row[WIDTH];
        for (int k = 0; k < WIDTH; k++) row[k] = p->rows + (j + k) * p->wide;
        const Vec z = products_with(row, g->x, p->wide) - READ(p->targets + j);
        const Vec slopes = slopes_of(z);
        if (g->z) AT(g->z + j) = z;
        AT(g->slopes + j) = slopes;
        add_rows(row, share * slopes, g->mean, p->wide);
    }
}

/* grad g of a group, a replica in every lane, into the rows of its mean. */
static void gradients_in_lanes(const Problem *p, Group *g)
{
    const int64_t count = p->N * p->n, wide = p->wide, d = p->d;
    const double share = 1.0 / (double)count;
    double *restrict x = g->lanes_x, *restrict total = g->lanes_g;
    for (int64_t c = 0; c < d; c++)
        for (int r = 0; r < g->group; r++) x[c * LANES + r] = g->x[r * wide + c];
    memset(total, 0, (size_t)(d * LANES) * sizeof(double));
    for (int64_t j = 0; j < count; j += BLOCK) {
        const double *a = p->rows + j * wide;
        Vec z[BLOCK][2];
        for (int k = 0; k < BLOCK; k++) z[k][0] = z[k][1] = all(0);
        for (int64_t c = 0; c < d; c++) {
            const Vec left = READ(x + c * LANES), right = READ(x + c * LANES + WIDTH);
#pragma GCC unroll 8
            for (int k = 0; k < BLOCK; k++) {
                const Vec entry = all(a[k * wide + c]);
                z[k][0] += entry * left;
                z[k][1] += entry * right;
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < BLOCK; k++)
            for (int half = 0; half < 2; half++) {
                const int64_t place = (j + k) * LANES + half * WIDTH;
                const Vec here = z[k][half] - p->targets[j + k];
                if (g->z) AT(g->z + place) = here;
                z[k][half] = AT(g->slopes + place) = slopes_of(here);
            }
        for (int64_t c = 0; c < d; c++) {
            Vec left = READ(total + c * LANES), right = READ(total + c * LANES + WIDTH);
#pragma GCC unroll 8
            for (int k = 0; k < BLOCK; k++) {
                const Vec entry = all(a[k * wide + c]);
                left += entry * z[k][0];
                right += entry * z[k][1];
            }
            AT(total + c * LANES) = left;
            AT(total + c * LANES + WIDTH) = right;
        }
    }
    for (int r = 0; r < g->group; r++)
        for (int64_t c = 0; c < d; c++) g->mean[r * wide + c] = share * total[c * LANES + r];
}

/* The gradients of the memories, a few clients at a time, whose past rows stay near for all replicas. */
static void memories(const Problem *p, Group *g)
{
    const int64_t N = p->N, n = p->n, K = p->K, wide = p->wide, fit = NEAR / (n * wide), few = fit < 1 ? 1 : fit;
    const double share = 1.0 / (double)(N * K);
    memset(g->memory, 0, (size_t)(g->group * wide) * sizeof(double));
    for (int64_t begin = 0; begin < N * K; begin += few * K) {
        const int64_t end = begin + few * K < N * K ? begin + few * K : N * K;
        for (int r = 0; r < g->group; r++) {
            const int64_t *kept = p->kept + (g->first + r) * N * K;
            int64_t client = begin / K, within = 0;
            for (int64_t q = begin; q < end; q += WIDTH) {
                const double *row[WIDTH];
                Vec target = all(0), factor = all(0);
                for (int k = 0; k < WIDTH; k++) {
                    if (q + k >= end) {
                        row[k] = row[0];
                        continue;
                    }
                    const int64_t j = client * n + kept[q + k];
                    row[k] = p->past_rows + j * wide;
                    target[k] = p->past_targets[j];
                    factor[k] = share;
                    if (++within == K) within = 0, client++;
                }
                const Vec z = products_with(row, g->x + r * wide, wide) - target;
                add_rows(row, factor * slopes_of(z), g->memory + r * wide, wide);
            }
        }
    }
}

/* Plain steps of `count` walks: one sweep over d a step has direction, iterate and the next product. */
INLINE void sweeps(const Problem *p, const int count, int stride, const Walk *walks, double *scratch)
{
    const int64_t wide = p->wide, E = p->E;
    const double beta = p->beta, inverse = 1.0 / (double)p->n;
    const double *row[SWEEPS], *ahead[SWEEPS];
    double *direction[SWEEPS], *local[SWEEPS], weight[SWEEPS];
    for (int w = 0; w < count; w++) {
        direction[w] = scratch + 2 * w * wide, local[w] = direction[w] + wide;
        memcpy(direction[w], walks[w].mean, (size_t)wide * sizeof(double));
        memcpy(local[w], walks[w].x, (size_t)wide * sizeof(double));
        row[w] = walks[w].rows, weight[w] = 0;
    }
    for (int64_t k = 1; k < E; k++) {
        Vec z[SWEEPS], factor[SWEEPS];
        for (int w = 0; w < count; w++) {
            ahead[w] = walks[w].rows + walks[w].order[k] * wide;
            z[w] = all(0), factor[w] = all(weight[w]);
        }
        for (int64_t c = 0; c < wide; c += WIDTH)
#pragma GCC unroll 4
            for (int w = 0; w < count; w++) {
                const Vec turned = READ(direction[w] + c) + factor[w] * READ(row[w] + c);
                const Vec there = READ(local[w] + c) - beta * turned;
                AT(direction[w] + c) = turned;
                AT(local[w] + c) = there;
                z[w] += READ(ahead[w] + c) * there;
            }
#pragma GCC unroll 4
        for (int w = 0; w < count; w++) {
            const int64_t j = walks[w].order[k];
            double *kept = walks[w].slopes + j * stride;
            const double now = slope(sum(z[w]) - walks[w].targets[j]);
            weight[w] = (now - *kept) * inverse;
            *kept = now;
            row[w] = ahead[w];
        }
    }
    for (int w = 0; w < count; w++)
        for (int64_t c = 0; c < wide; c += WIDTH)
            AT(walks[w].moved + c) += READ(local[w] + c) - READ(walks[w].x + c) -
                                      beta * (READ(direction[w] + c) + weight[w] * READ(row[w] + c));
}

/* Steps of `count` walks on the table of inner products. */
INLINE void chains(const Problem *p, const int count, int stride, const Walk *walks)
{
    const int64_t wide = p->wide, E = p->E, n = p->n;
    const double beta = p->beta, inverse = 1.0 / (double)n;
    double along[E][CHAINS], weight[E][CHAINS], early[E][CHAINS];
    const double *row[WIDTH];
    /* A tile that were mostly empty would cost more than its rows one by one. */
    const int64_t rest = (E - 1) % WIDTH, tiled = rest < WIDTH / 2 ? E - rest : E;
    for (int w = 0; w < count; w++) {
        for (int64_t k = 1; k < tiled; k += WIDTH) {
            for (int s = 0; s < WIDTH; s++) row[s] = walks[w].rows + walks[w].order[k + s < E ? k + s : k] * wide;
            const Vec found = products_with(row, walks[w].mean, wide);
            for (int s = 0; s < WIDTH && k + s < E; s++) along[k + s][w] = found[s];
        }
        for (int64_t k = tiled; k < E; k++) {
            Vec z = all(0);
            row[0] = walks[w].rows + walks[w].order[k] * wide;
            for (int64_t c = 0; c < wide; c += WIDTH) z += READ(row[0] + c) * READ(walks[w].mean + c);
            along[k][w] = sum(z);
        }
    }
    for (int64_t k = 1; k < E; k++) {
        const double *product[CHAINS];
        double plain[CHAINS], timed[CHAINS];
        for (int w = 0; w < count; w++) {
            product[w] = walks[w].products + walks[w].order[k] * n;
            plain[w] = along[k][w], timed[w] = 0;
        }
        for (int64_t m = 1; m < k; m++)
#pragma GCC unroll 4
            for (int w = 0; w < count; w++) {
                const double inner = product[w][walks[w].order[m]];
                plain[w] += weight[m][w] * inner;
                timed[w] += early[m][w] * inner;
            }
#pragma GCC unroll 4
        for (int w = 0; w < count; w++) {
            const int64_t place = walks[w].order[k] * stride;
            const double now = slope(walks[w].z[place] - beta * ((double)k * plain[w] - timed[w]));
            weight[k][w] = (now - walks[w].slopes[place]) * inverse;
            early[k][w] = (double)k * weight[k][w];
            walks[w].slopes[place] = now;
        }
    }
    for (int w = 0; w < count; w++) {
        for (int64_t k = 1; k < tiled; k += WIDTH) {
            Vec factor = all(0);
            for (int s = 0; s < WIDTH; s++) {
                row[s] = walks[w].rows + walks[w].order[k + s < E ? k + s : k] * wide;
                if (k + s < E) factor[s] = -beta * ((double)E * weight[k + s][w] - early[k + s][w]);
            }
            add_rows(row, factor, walks[w].moved, wide);
        }
        for (int64_t k = tiled; k < E; k++) {
            const double factor = -beta * ((double)E * weight[k][w] - early[k][w]);
            row[0] = walks[w].rows + walks[w].order[k] * wide;
            for (int64_t c = 0; c < wide; c += WIDTH) AT(walks[w].moved + c) += factor * READ(row[0] + c);
        }
        for (int64_t c = 0; c < wide; c += WIDTH)
            AT(walks[w].moved + c) -= beta * (double)E * READ(walks[w].mean + c);
    }
}

/* The walks of all clients in all replicas of round t, those of a client one after another. */
static void local_steps(const Problem *p, Group *g, int64_t t)
{
    const int64_t N = p->N, n = p->n, wide = p->wide, count = N * g->group;
    const int most = p->products ? CHAINS : SWEEPS;
    memset(g->moved, 0, (size_t)(g->group * wide) * sizeof(double));
    for (int64_t begin = 0; begin < count; begin += most) {
        Walk walks[CHAINS];
        const int here = count - begin < most ? (int)(count - begin) : most;
        for (int w = 0; w < here; w++) {
            const int64_t i = (begin + w) / g->group, r = (begin + w) % g->group, place = i * n * g->stride + r;
            walks[w] = (Walk){
                .rows = p->rows + i * n * wide,
                .targets = p->targets + i * n,
                .products = p->products ? p->products + i * n * n : NULL,
                .x = g->x + r * wide,
                .mean = g->mean + r * wide,
                .order = p->orders + ((t * p->R + g->first + r) * N + i) * p->E,
                .z = g->z ? g->z + place : NULL,
                .slopes = g->slopes + place,
                .moved = g->moved + r * wide,
            };
        }
        /* With a constant count the walks of a step stand in registers. */
        if (p->products && here == CHAINS)
            chains(p, CHAINS, g->stride, walks);
        else if (p->products)
            for (int w = 0; w < here; w++) chains(p, 1, g->stride, walks + w);
        else if (here == SWEEPS)
            sweeps(p, SWEEPS, g->stride, walks, g->scratch);
        else if (here == 2)
            sweeps(p, 2, g->stride, walks, g->scratch);
        else
            sweeps(p, 1, g->stride, walks, g->scratch);
    }
}

static double *take(double **room, int64_t count)
{
    double *here = *room;
    *room += count;
    return here;
}

/* All rounds of `group` replicas from replica `first` on, in lanes or a replica alone. */
static int run_group(const Problem *p, int64_t first, int group, int lanes, double *out)
{
    const int64_t wide = p->wide, rows = (p->N * p->n + PADDING + 7) / 8 * 8, stride = lanes ? LANES : 1;
    const int64_t size = (4 * group + 2 * stride + 2 * SWEEPS) * wide + (p->products ? 2 : 1) * rows * stride;
    double *room = aligned_alloc(64, (size_t)size * sizeof(double)), *next = room;
    if (!room) return 1;
    memset(room, 0, (size_t)size * sizeof(double));
    Group g = {.first = first, .group = group, .stride = (int)stride};
    g.x = take(&next, group * wide), g.mean = take(&next, group * wide);
    g.moved = take(&next, group * wide), g.memory = take(&next, group * wide);
    g.lanes_x = take(&next, stride * wide), g.lanes_g = take(&next, stride * wide);
    g.scratch = take(&next, 2 * SWEEPS * wide);
    g.slopes = take(&next, rows * stride);
    if (p->products) g.z = take(&next, rows * stride);
    for (int r = 0; r < group; r++) memcpy(g.x + r * wide, p->start, (size_t)p->d * sizeof(double));
    for (int64_t t = 0; t < p->rounds; t++) {
        memories(p, &g);
        if (lanes)
            gradients_in_lanes(p, &g);
        else
            gradient_alone(p, &g);
        local_steps(p, &g, t);
        for (int64_t c = 0; c < group * wide; c++) g.x[c] += g.moved[c] / (double)p->N - p->alpha * g.memory[c];
    }
    for (int r = 0; r < group; r++) memcpy(out + (first + r) * p->d, g.x + r * wide, (size_t)p->d * sizeof(double));
    free(room);
    return 0;
}

/* x_T of R replicas into out (R, d); orders (rounds, R, N, E), kept (R, N, K), products (N, n, n) of each client's
   current rows, or NULL for plain steps; lanes: whether replicas go together. Not 0: no memory. */
int c_flag(int64_t R, int64_t N, int64_t n, int64_t d, int64_t wide, int64_t E, int64_t K, int64_t rounds, double alpha,
           double beta, const double *rows, const double *targets, const double *past_rows, const double *past_targets,
           const double *start, const double *products, const int64_t *kept, const int32_t *orders, int lanes,
           int threads, double *out)
{
    const Problem p = {R,       N,         n,            d,     wide,     E,    K,     rounds, alpha, beta, rows,
                       targets, past_rows, past_targets, start, products, kept, orders};
    const int together = lanes ? LANES : 1;
    int failed = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(| : failed)
    for (int64_t first = 0; first < R; first += together)
        failed |= run_group(&p, first, R - first < together ? (int)(R - first) : together, lanes, out);
    return failed;
}
