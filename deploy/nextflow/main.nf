// Runs an experiment in shards, one task each, and merges them. It was not run.
//
//   nextflow run deploy/nextflow/main.nf --experiment my.yaml --shards 8
nextflow.enable.dsl = 2

params.experiment = 'configs/quickstart.yaml'
params.shards = 4
params.bench = 'bench'
params.out = 'results'

process shard {
    input:
    path experiment
    val index

    output:
    path "shards/*/shard-*"

    script:
    """
    ${params.bench} run ${experiment} --shard ${index}/${params.shards} --out shards --progress none
    """
}

process merge {
    publishDir '.', mode: 'copy'

    input:
    path shards

    output:
    path "${params.out}"

    script:
    """
    ${params.bench} merge ${shards} --out ${params.out}
    """
}

workflow {
    experiment = Channel.value(file(params.experiment))
    merge(shard(experiment, Channel.of(1..params.shards)).collect())
}
