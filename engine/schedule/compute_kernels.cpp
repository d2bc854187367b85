#include <cstddef>
#include <utility>
#include <vector>

#include "io/mpi.hpp"
#include "schedule/compute.hpp"

// Initial values and recurrences keep numbers bounded over any number of units and let tests know the
// results.

namespace wa {
namespace {

/// Level 1: next = newer + scalar * older, where the three arrays take turns as next. With a scalar of -1
/// every element returns to its start after six sweeps, with small integers in between.
class Triad final : public ComputeKernel {
  public:
    static constexpr std::size_t words = std::size_t{1} << 21U;  // 16 MiB each
    static constexpr int sweeps = 20;                            // per unit

    Triad() : older_(words), newer_(words), next_(words) {
        for (std::size_t i = 0; i < words; ++i) {
            older_[i] = static_cast<double>(i % 7);
            newer_[i] = static_cast<double>(i % 5);
        }
    }
    void unit() override {
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            const double scalar = scalar_;
            for (std::size_t i = 0; i < words; ++i) next_[i] = newer_[i] + scalar * older_[i];
            std::swap(older_, newer_);
            std::swap(newer_, next_);
        }
    }
    [[nodiscard]] double checksum() const override {
        double sum = 0;
        for (const double value : newer_) sum += value;
        return sum;
    }

  private:
    double scalar_ = -1;
    std::vector<double> older_;
    std::vector<double> newer_;
    std::vector<double> next_;
};

/// Level 2: X = M X with M = P - J/32, where P moves each row up by one and J is all ones. The product is
/// dense and exact: two products move the rows of X up by two.
class Products final : public ComputeKernel {
  public:
    static constexpr std::size_t n = 64;
    static constexpr int products = 1000;  // per unit

    Products() : matrix_(n * n), x_(n * n), result_(n * n) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                matrix_[i * n + j] = (j == (i + 1) % n ? 1.0 : 0.0) - 1.0 / 32;
                x_[i * n + j] = static_cast<double>((7 * i + 13 * j) % 31);
            }
        }
    }
    void unit() override {
        for (int product = 0; product < products; ++product) {
            for (std::size_t i = 0; i < n; ++i) {
                double* row = &result_[i * n];
                for (std::size_t j = 0; j < n; ++j) row[j] = 0;
                for (std::size_t k = 0; k < n; ++k) {
                    const double factor = matrix_[i * n + k];
                    const double* from = &x_[k * n];
                    for (std::size_t j = 0; j < n; ++j) row[j] += factor * from[j];
                }
            }
            std::swap(x_, result_);
        }
    }
    [[nodiscard]] double checksum() const override {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(i + 1) * x_[i * n + j];
        }
        return sum;
    }

  private:
    std::vector<double> matrix_;
    std::vector<double> x_;
    std::vector<double> result_;
};

/// Level 3: diffusion with a 7-point stencil on n x n x n cells per process. The processes form a line in the
/// first dimension; all dimensions are periodic.
class Stencil final : public ComputeKernel {
  public:
    static constexpr std::size_t n = 64;
    static constexpr int sweeps = 128;  // per unit

    explicit Stencil(MPI_Comm comm) : comm_(comm), cells_(width * plane), next_(width * plane) {
        const int rank = mpi::rank(comm);
        const int size = mpi::size(comm);
        below_ = (rank + size - 1) % size;
        above_ = (rank + 1) % size;
        first_ = static_cast<std::size_t>(rank) * n;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t k = 0; k < n; ++k)
                    cells_[at(i, j, k)] = static_cast<double>(1 + first_ + i + j * k % 7);
            }
        }
    }
    void unit() override {
        for (int sweep = 0; sweep < sweeps; ++sweep) {
            close_planes();
            exchange();
            update();
            std::swap(cells_, next_);
        }
    }
    [[nodiscard]] double checksum() const override {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t k = 0; k < n; ++k)
                    sum += static_cast<double>(first_ + i + 1) * cells_[at(i, j, k)];
            }
        }
        return sum;
    }

  private:
    static constexpr std::size_t width = n + 2;  // with a halo cell on each side
    static constexpr std::size_t plane = width * width;

    static constexpr std::size_t at(std::size_t i, std::size_t j, std::size_t k) {
        return (i + 1) * plane + (j + 1) * width + k + 1;
    }
    /// Fills the halo within a process: opposite faces of the second and third dimension.
    void close_planes() {
        for (std::size_t i = 1; i <= n; ++i) {
            double* p = &cells_[i * plane];
            for (std::size_t k = 1; k <= n; ++k) {
                p[k] = p[n * width + k];
                p[(n + 1) * width + k] = p[width + k];
            }
            for (std::size_t j = 1; j <= n; ++j) {
                p[j * width] = p[j * width + n];
                p[j * width + n + 1] = p[j * width + 1];
            }
        }
    }
    /// Fills the halo between processes: whole planes.
    void exchange() {
        pass(n, above_, 0, below_);
        pass(1, below_, n + 1, above_);
    }
    void pass(std::size_t give, int to, std::size_t take, int from) {
        const int count = static_cast<int>(plane);
        mpi::check(MPI_Sendrecv(&cells_[give * plane], count, MPI_DOUBLE, to, 0, &cells_[take * plane], count,
                                MPI_DOUBLE, from, 0, comm_, MPI_STATUS_IGNORE),
                   "MPI_Sendrecv");
    }
    void update() {
        for (std::size_t i = 1; i <= n; ++i) {
            for (std::size_t j = 1; j <= n; ++j) {
                const double* u = &cells_[i * plane + j * width];
                double* out = &next_[i * plane + j * width];
                for (std::size_t k = 1; k <= n; ++k) {
                    const double sides = *(u + k - plane) + u[k + plane] + *(u + k - width) + u[k + width] +
                                         u[k - 1] + u[k + 1];
                    out[k] = u[k] + 0.125 * (sides - 6 * u[k]);
                }
            }
        }
    }

    MPI_Comm comm_;
    int below_ = 0;
    int above_ = 0;
    std::size_t first_ = 0;  // the first plane of this process, among all planes
    std::vector<double> cells_;
    std::vector<double> next_;
};

}  // namespace

ComputeUnit unit_of(std::int64_t level) {
    constexpr double n2 = Products::n * Products::n;
    constexpr double n3 = Stencil::n * Stencil::n * Stencil::n;
    switch (level) {
        case 1:  // counted as in STREAM: two arrays are read and one is written
            return {"memory", 3.0 * sizeof(double) * Triad::words * Triad::sweeps, "bytes moved"};
        case 2:
            return {"arithmetic", 2.0 * n2 * Products::n * Products::products, "floating-point operations"};
        default:
            return {"stencil", n3 * Stencil::sweeps, "cell updates"};
    }
}

std::unique_ptr<ComputeKernel> make_kernel(std::int64_t level, MPI_Comm comm) {
    if (level == 1) return std::make_unique<Triad>();
    if (level == 2) return std::make_unique<Products>();
    return std::make_unique<Stencil>(comm);
}

}  // namespace wa
