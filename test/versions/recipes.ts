// Each recipe, contended by three processes.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { isLife } from '../../src/recipes/locks/ticket.ts'
import { SubprocessRpc } from '../../environment/subprocess-rpc.ts'
import { PROCESSES, ROUNDS, steps } from './steps.ts'
import type { Subject } from './subject.ts'

const script = fileURLToPath(new URL('recipes-process.ts', import.meta.url))

export function recipesSuite(subject: Subject): void {
  describe('three processes contend for', () => {
    let processes: SubprocessRpc[] = []

    before(() => {
      const args = ['--import', 'tsx', script, subject.server.connectString]
      processes = Array.from({ length: PROCESSES }, () => new SubprocessRpc(process.execPath, args))
    })
    after(() => Promise.all(processes.map(each => each.close())))

    for (const [name, { counts }] of Object.entries(steps)) {
      it(name, async () => {
        const { client, path } = subject
        await client.create(`${path}/counter`, '0')
        const watches = await subject.server.watchCount()
        await Promise.all(processes.map((each, i) => each.request(JSON.stringify([name, path, i]))))
        if (counts) expect(Number((await client.getData(`${path}/counter`)).data)).to.equal(PROCESSES * ROUNDS)
        expect(await leavesBelow(path), 'nodes left').to.deep.equal([`${path}/counter`])
        // A server before 3.5 cannot remove a watch. It stays until the node changes or the session ends.
        if (name !== 'Queue' || subject.has('creates with a Stat, containers, removal of watches, TLS'))
          expect(await subject.server.watchCount(), 'watches left').to.equal(watches)
      })
    }

    /** The nodes below a path, without the directories of recipes. */
    async function leavesBelow(path: string): Promise<string[]> {
      const { children } = await subject.client.getChildren(path)
      const all = await Promise.all(
        children.map(async name => {
          const child = `${path}/${name}`
          return isDirectory(name) ? leavesBelow(child) : [child]
        }),
      )
      return all.flat()
    }
  })
}

const isDirectory = (name: string): boolean => /^(lock|other|locks|leases|entries|taken)$/.test(name) || isLife(name)
