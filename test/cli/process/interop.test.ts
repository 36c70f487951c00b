// `zkwire lock` in one queue with contenders of Curator, kazoo and our library.
import { expect } from 'chai'
import { Mutex } from '../../../src/recipes/index.ts'
import type { Client } from '../../../src/index.ts'
import { handOverCount, incrementAll, type Contender } from '../../interop/contender.ts'
import { describeInterop } from '../../interop/fixture.ts'
import { curator, kazoo } from '../../interop/peers.ts'
import { until } from '../../../environment/until.ts'
import { Program } from './program.ts'

const ROUNDS = 6

/** A contender that holds the lock while the program of `zkwire lock` runs. Another session writes the counter. */
function shell(name: string, client: Client, args: readonly string[]): Contender {
  let program: Program | undefined
  return {
    name,
    async acquire() {
      program = new Program(['lock', ...args, '--', 'sh', '-c', 'echo held; exec cat'], { keepsInput: true })
      const running = program
      const ended = program.ended.then(({ err }) => expect.fail(`zkwire lock ended: ${err}`))
      await Promise.race([until(() => running.out === 'held\n', { within: 50_000 }), ended])
      ended.catch(() => undefined)
    },
    read: async counter => String((await client.getData(counter)).data),
    write: (counter, value) => client.setData(counter, value),
    async release() {
      program?.child.stdin.end()
      // On a busy machine it says that it waits for the end of its processes.
      expect(await program?.ended).to.include({ status: 0 })
    },
  }
}

for (const library of [curator, kazoo])
  describeInterop('zkwire lock with', [library], all => {
    it('loses no update, and takes its turn in the queue', async function () {
      this.timeout(120_000)
      const { dialect, kind } = library.lock
      const args = [all.path, '--dialect', dialect, '--server', all.connectString]
      const contenders = [
        ...all.ours(client => new Mutex(client, all.path, { dialect })),
        ...all.theirs(kind),
        ...all.clients.map((client, i) => shell(`shell ${i}`, client, args)),
      ]
      const increments = await incrementAll(contenders, all.counter, ROUNDS)
      const total = ROUNDS * contenders.length
      expect(increments.map(({ previous }) => previous)).to.deep.equal(Array.from({ length: total }, (_, i) => i))
      expect(await all.counterValue()).to.equal(total)
      expect(handOverCount(increments)).to.be.greaterThan(ROUNDS)
    })
  })
