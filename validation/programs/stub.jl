# cvxml conform --allow-skipped -- julia stub.jl
# One question on the standard input, one answer on the standard output. Needs the package JSON. Copy and go on.
using JSON, LinearAlgebra

matrix(rows) = [Float64(rows[i][j]) for i in eachindex(rows), j in eachindex(rows[1])]
rows(M) = [M[i, :] for i in axes(M, 1)]
of_eigenvalues(f, M) = (found = eigen(Symmetric(M)); found.vectors * Diagonal(f.(found.values)) * found.vectors')

# The inverse of the covariance within chunklets, which is optimal up to a multiple.
function rca(given)
    X, chunklets = matrix(given["X"]), given["chunklets"]
    C = zeros(size(X, 2), size(X, 2))
    for c in setdiff(unique(chunklets), [-1])
        own = X[findall(==(c), chunklets), :]
        own = own .- sum(own, dims = 1) / size(own, 1)
        C += own' * own
    end
    Dict("metric" => rows(inv(C / count(!=(-1), chunklets) + given["alpha"] * I)))
end

# The geometric mean of S^-1 and D.
function gmml(given)
    given["weight"] == 0.5 || return Dict("unsupported" => "t is 1/2 here")
    X = matrix(given["X"])
    function scatter(pairs)
        E = vcat([X[[i + 1], :] - X[[j + 1], :] for (i, j) in pairs]...)
        E' * E + given["mu"] * I
    end
    root = of_eigenvalues(sqrt, scatter(given["pairs"]["similar"]))
    D = scatter(given["pairs"]["dissimilar"])
    Dict("metric" => rows(root \ of_eigenvalues(sqrt, root * D * root) / root))
end

function mlsvm_slacks(given)
    X, A = matrix(given["X"]), matrix(given["metric"])
    D(i, j) = dot(X[i, :] - X[j+1, :], A, X[i, :] - X[j+1, :])  # lists count from 0
    slack(i, T, J) =
        isempty(T) || isempty(J) ? 0.0 : max(0.0, 1 + maximum(D(i, l) for l in T) - minimum(D(i, j) for j in J))
    xi = [slack(i, given["targets"][i], given["impostors"][i]) for i in axes(X, 1)]
    Dict("answer" => Dict("xi" => xi, "objective" => given["lam"] / 2 * sum(abs2, A) + sum(xi) / length(xi)))
end

psd_projection(given) =
    Dict("answer" => Dict("projection" => rows(of_eigenvalues(v -> max(v, 0.0), matrix(given["matrix"])))))

known = Dict("rca" => rca, "gmml" => gmml, "mlsvm_slacks" => mlsvm_slacks, "psd_projection" => psd_projection)
question = JSON.parse(read(stdin, String))
unsupported(_) = Dict("unsupported" => "not yet")
JSON.print(get(known, question["formula"], unsupported)(question["inputs"]))
