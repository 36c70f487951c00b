// Measures the exponents that theory predicts.
import { expect } from 'chai'
import { Progress } from '../../../bench/output/progress.ts'
import { Run } from '../../../bench/harness/run.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'
import { serverFor } from '../../../bench/harness/server.ts'
import { growthOf, summaryOf } from '../../../bench/measure/summary.ts'

const NEAR = 0.15

for (const kind of ['embedded', 'apache'] as const)
  describe(`the traffic of one release on the ${kind} server`, function () {
    this.timeout(90_000)

    it('grows with N squared for the herd, with N for the mutex, and not at all for tickets', async () => {
      const locks = scenarios.filter(({ name }) => ['herd', 'mutex', 'ticket'].includes(name))
      const server = await serverFor(kind)
      try {
        const options = { sizes: [50, 100, 200], seconds: 1, overtime: 1000, seed: 1, threads: 2, all: false }
        const silent = new Progress({ write: () => undefined })
        const run = new Run({ ...options, scenarios: locks }, server, silent, new AbortController())
        await run.measure()
        const summaries = run.measurements.map(summaryOf)
        for (const [name, events, bytes] of [
          ['herd', 1, 2],
          ['mutex', 0, 1],
          ['ticket', 0, 0],
        ] as const) {
          const scenario = locks.find(each => each.name === name)
          const growth = scenario && growthOf(scenario, summaries)
          expect(growth?.sizes, name).to.deep.equal([50, 100, 200])
          expect(growth?.bytes?.exponent, `${name}, bytes`).to.be.closeTo(bytes, NEAR)
          expect(growth?.bytes?.error, `${name}, error of the exponent`).to.be.below(NEAR)
          expect(growth?.notifications?.exponent, `${name}, events`).to.be.closeTo(events, NEAR)
        }
      } finally {
        await server.close()
      }
    })
  })
