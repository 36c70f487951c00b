import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { readResult, type Result } from '../../../bench/output/result.ts'
import { digestOf } from '../../../bench/compare/digest.ts'
import { judge, verdictOf } from '../../../bench/compare/verdict.ts'

const run = () => readResult(fileURLToPath(new URL('../../../docs/herd.json', import.meta.url)))

const judgementOf = (older: Result, newer: Result, limit: number) => judge(digestOf(older), digestOf(newer), limit)

/** Returns a copy in which one phase has other counts. */
function changed(result: Result, scenario: string, size: number, change: (counts: Counts) => void): Result {
  const copy = structuredClone(result)
  const cell = copy.cells.find(each => each.scenario === scenario && each.size === size)
  const release = cell?.phases[0] ?? expect.fail(`${scenario} ${size} is missing`)
  change(release.counts)
  return copy
}

type Counts = Result['cells'][number]['phases'][number]['counts']

const plus = (counts: Counts, key: 'notifications' | 'framesSent' | 'bytesReceived', added: number) => {
  const { median } = counts[key]
  counts[key] = { median: median + added, min: median + added, max: median + added }
}

describe('the verdict on two results', () => {
  it('is that a run is not worse than itself, even with a limit of 0 %', async () => {
    const result = await run()
    const { worse, judged } = judgementOf(result, result, 0)
    expect(worse).to.deep.equal([])
    expect(judged).to.be.above(100)
    const { isWorse, sentences } = verdictOf(judgementOf(result, result, 0), 0)
    expect(isWorse).to.equal(false)
    expect(sentences[0]).to.equal(`Not worse: none of ${judged} exact counts grew by more than 0 %.`)
    expect(sentences[1]).to.match(/^Not judged, because their counts vary between steps: reentrant \d+/)
  })

  it('names each count that grew by more than the limit, in a sentence', async () => {
    const older = await run()
    const newer = changed(older, 'mutex', 1000, counts => {
      plus(counts, 'notifications', 1)
      plus(counts, 'framesSent', 1)
      plus(counts, 'bytesReceived', 5917)
    })
    const { isWorse, sentences } = verdictOf(judgementOf(older, newer, 0.1), 0.1)
    expect(isWorse).to.equal(true)
    expect(sentences.slice(0, 2)).to.deep.equal([
      'WORSE: mutex 1000, release: 2 notifications instead of 1, which is 100 % more.',
      'WORSE: mutex 1000, release: 6 frames instead of 5, which is 20 % more.',
    ])
    expect(sentences[2]).to.match(/^WORSE: 2 of \d+ exact counts grew by more than 10 %\.$/)
  })

  it('accepts a growth of exactly the limit, and a smaller count', async () => {
    const older = await run()
    const newer = changed(older, 'mutex', 1000, counts => {
      plus(counts, 'framesSent', 1)
      plus(counts, 'bytesReceived', -50_000)
    })
    expect(judgementOf(older, newer, 0.2).worse).to.deep.equal([])
    expect(judgementOf(older, newer, 0.19).worse).to.have.length(1)
  })

  it('reports a count that was zero, whatever the limit', async () => {
    const result = await run()
    const older = changed(result, 'mutex', 1000, counts => plus(counts, 'notifications', -1))
    const [first] = verdictOf(judgementOf(older, result, 5), 5).sentences
    expect(first).to.equal('WORSE: mutex 1000, release: 1 notification instead of 0.')
  })

  it('does not judge by times and processor times', async () => {
    const older = await run()
    const newer = structuredClone(older)
    for (const { phases } of newer.cells)
      for (const phase of phases) {
        phase.ms *= 3
        phase.clientCpuMs *= 3
        if (phase.marks !== undefined) phase.marks.all.p50 *= 3
      }
    expect(judgementOf(older, newer, 0).worse).to.deep.equal([])
  })

  it('does not judge a scenario whose counts vary in one of the results', async () => {
    const older = await run()
    const newer = changed(older, 'herd', 50, counts => plus(counts, 'framesSent', 1000))
    for (const [a, b] of [
      [varying(older, 'herd', 50), newer],
      [older, varying(newer, 'herd', 50)],
    ] as const) {
      const { worse, varying } = judgementOf(a, b, 0)
      expect(worse).to.deep.equal([])
      expect(varying).to.deep.include({ scenario: 'herd', size: 50 })
    }
  })

  it('is a failure if the newer run was to measure more than its result contains', async () => {
    const older = await run()
    const newer = structuredClone(older)
    newer.cells = newer.cells.filter(({ scenario, size }) => scenario !== 'data' || size < 200)
    newer.cells.find(({ scenario, size }) => scenario === 'child' && size === 50)?.phases.pop()
    const { isWorse, sentences } = verdictOf(judgementOf(older, newer, 0), 0)
    expect(isWorse).to.equal(true)
    expect(sentences[0]).to.match(/^None of \d+ exact counts grew by more than 0 %\.$/)
    expect(sentences[1]).to.equal(
      'MISSING, which counts as worse: the newer run was to measure child 50; data 200 and 1000, and did not.',
    )
  })

  it('names what the newer run was not asked for, which is no failure', async () => {
    const older = await run()
    const newer = structuredClone(older)
    newer.scenarios = newer.scenarios.filter(({ name }) => name !== 'data')
    newer.cells = newer.cells.filter(({ scenario, size }) => scenario !== 'data' && size < 1000)
    newer.sizes = [10, 50, 100, 200]
    const { isWorse, sentences } = verdictOf(judgementOf(older, newer, 0), 0)
    expect(isWorse).to.equal(false)
    expect(sentences.at(-1)).to.match(
      /^Not judged, because the newer run was not asked for them: .*data 10, 50, 100, 200 and 1000/,
    )
  })

  it('is a failure if the results have no exact count in common', async () => {
    const older = await run()
    const { isWorse, sentences } = verdictOf(judgementOf(older, { ...older, cells: [] }, 0.1), 0.1)
    expect(isWorse).to.equal(true)
    expect(sentences[0]).to.equal('Nothing could be judged: the two results have no exact count in common.')
  })
})

function varying(result: Result, scenario: string, size: number): Result {
  const copy = structuredClone(result)
  for (const cell of copy.cells) if (cell.scenario === scenario && cell.size === size) cell.isConstant = false
  return copy
}
