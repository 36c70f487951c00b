// Compares the counts of the benchmark's clients with those of the server.
import { expect } from 'chai'
import { Progress } from '../../../bench/output/progress.ts'
import { Run } from '../../../bench/harness/run.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'
import { serverFor } from '../../../bench/harness/server.ts'

for (const kind of ['embedded', 'apache'] as const)
  describe(`the counts of clients and the ${kind} server`, function () {
    this.timeout(60_000)

    it('agree in every scenario: frames in both directions, and bytes if the server reports them', async () => {
      const server = await serverFor(kind)
      try {
        const quick = scenarios.filter(({ isSlow }) => isSlow !== true)
        const options = { scenarios: quick, sizes: [20], seconds: 1, overtime: 100, seed: 1, threads: 2, all: false }
        const run = new Run(options, server, new Progress({ write: () => undefined }), new AbortController())
        await run.measure()
        expect(run.measurements).to.have.length(quick.length)
        for (const { scenario, bothSides } of run.measurements) {
          expect(bothSides?.clients.framesSent, scenario).to.be.above(20)
          const { bytesReceived, ...rest } = bothSides?.clients ?? { bytesReceived: NaN }
          const expected = kind === 'apache' ? rest : { ...rest, bytesReceived }
          expect(bothSides?.server, scenario).to.deep.equal(expected)
        }
      } finally {
        await server.close()
      }
    })
  })
