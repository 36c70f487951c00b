// "What bites" of each page for those who come from another library: a program of that library and one of zkwire do
// what each row says, through a proxy that cuts their connection, and print what the row promises.
import { expect } from 'chai'
import { readDocument } from '../support/document.ts'
import { curatorBites } from './bites/curator.ts'
import { kazooBites } from './bites/kazoo.ts'
import { nodeZooKeeperClientBites } from './bites/node-zookeeper-client.ts'
import { zookeeperBites } from './bites/zookeeper.ts'
import { javaSide, nodeSide, pythonSide, type Side } from './bites/sides.ts'
import { Stage, type Bite } from './bites/stage.ts'
import { nodeClients, nodeZooKeeperClient } from '../../environment/needs.ts'

const pages: readonly (readonly [page: string, bites: readonly Bite[], side: Side])[] = [
  ['docs/from-curator.md', curatorBites, javaSide],
  ['docs/from-kazoo.md', kazooBites, pythonSide],
  ['docs/from-node-zookeeper-client.md', nodeZooKeeperClientBites, nodeSide(nodeZooKeeperClient)],
  ['docs/from-zookeeper.md', zookeeperBites, nodeSide(nodeClients)],
]

/** Returns the first cell of each row of "What bites". */
const rowsOf = (page: string): string[] => {
  const section = /^## What bites\n([^]*?)^## /m.exec(readDocument(page))?.[1] ?? ''
  return [...section.matchAll(/^\| (.*?) \| .* \|$/gm)].slice(1).map(([, cell = '']) => cell)
}

for (const [page, bites, side] of pages)
  describe(`${page}, what bites`, function () {
    this.timeout(60_000)
    let programs: Awaited<ReturnType<Side>>

    before(async function () {
      this.timeout(600_000)
      programs = await side(bites.map(({ theirs }) => theirs))
    })

    it('has a test for each row', () => {
      const rows = rowsOf(page)
      expect(rows).to.have.length.above(10)
      expect(rows.map(row => bites.filter(bite => row.startsWith(bite.row)).length)).to.deep.equal(rows.map(() => 1))
      expect(bites).to.have.length(rows.length)
    })

    for (const [i, { row, theyPrint, ours, wePrint }] of bites.entries()) {
      it(`“${row}”: the other library`, async () => {
        await using stage = await Stage.open()
        expect(await stage.play(programs(i, stage.hosts))).to.deep.equal(theyPrint)
        expect(stage.planned, 'faults that did not happen').to.equal(0)
      })

      it(`“${row}”: ours`, async () => {
        await using stage = await Stage.open()
        const printed: string[] = []
        const zk = await stage.connect()
        try {
          await ours(zk, stage, (...words) => printed.push(words.join(' ')))
        } finally {
          await zk.close()
        }
        expect(printed).to.deep.equal(wePrint)
        expect(stage.planned, 'faults that did not happen').to.equal(0)
      })
    }
  })
