// Programs of the editor: what they can use, how they end, and what the judge says.
import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { verdictOf, type Verdict } from '../../../site/lab/judge.ts'
import { codeOf, syntaxProblem } from '../../../site/lab/script.ts'
import { RemoteWorld } from '../../../site/lab/remote-world.ts'
import type { StartWorld, WorldHandler } from '../../../site/lab/world-port.ts'
import { World } from '../../../site/world/world.ts'
import { runProgram, startInProcess } from '../support/in-process-world.ts'

const judged = async (text: string, clients = 3): Promise<Verdict> => {
  const world = await runProgram(text, { clients })
  const verdict = verdictOf(world.picture())
  await world.close()
  return verdict
}

const SPIN = `
while (true) {
  try { await zk.create('/lock', null, { mode: 'ephemeral' }); break } catch (error) {
    if (error.code !== 'NODEEXISTS') throw error
    await sleep(50)
  }
}
enter()
await sleep(100)
leave()
await zk.delete('/lock')`

describe('a program of the editor', () => {
  it('runs at each client, with the recipes of the package', async () => {
    const { notifications, ...verdict } = await judged(`const held = await new Mutex(zk, '/lock').acquire()
enter(); await sleep(10 * me); leave()
await held.release()`)
    expect(verdict).to.deep.equal({ overlaps: [], entries: 3, outside: [], unfinished: [], failures: [] })
    expect(notifications).to.be.above(0)
  })

  it('sends frames that the log of the world has, and no others', async () => {
    const world = await runProgram(SPIN)
    const { all } = world.picture().counters
    expect(world.frames).to.have.length(all.frames)
    expect(world.frames.map(({ n }) => n)).to.deep.equal(world.frames.map((_, i) => i + 1))
    expect(world.frames.filter(({ op, kind }) => op === 'delete' && kind === 'request')).to.have.length(3)
    expect(world.frames.every(({ arrivesAt, sentAt }) => arrivesAt - sentAt === 5)).to.equal(true)
    await world.close()
  })

  it('has the same frames in each run, and after a step back', async () => {
    const [one, other] = [await runProgram(SPIN), await runProgram(SPIN)]
    expect(one.frames).to.deep.equal(other.frames)
    const back = await one.replayed(30)
    expect(back.frames).to.have.length(30)
    expect(back.frames.map(({ bytes }) => bytes)).to.deep.equal(one.frames.slice(0, 30).map(({ bytes }) => bytes))
    await back.step()
    expect(back.frames).to.have.length(31)
    for (const world of [one, other, back]) await world.close()
  })

  it('is judged: two clients inside at the same time are an overlap, with its times', async () => {
    const { overlaps, entries } = await judged(`await sleep(100 * me); enter(); await sleep(150); leave()`)
    expect(entries).to.equal(3)
    expect(overlaps.map(({ clients }) => clients)).to.deep.equal([
      [1, 2],
      [2, 3],
    ])
    for (const { from, until } of overlaps) expect(until - from).to.be.within(40, 60)
  })

  it('is not judged to overlap if a client enters when the other has just left', async () => {
    const { overlaps } = await judged(`
const [from, until] = [[1000, 2000], [2000, 3000], [3000, 4000]][me - 1]
await sleep(from - performance.now() + 1000); enter(); await sleep(until - from); leave()`)
    expect(overlaps).to.deep.equal([])
  })

  it('fails with the line of its error', async () => {
    const { failures } = await judged(`const a = 1\nawait sleep(5)\nnope(a)`, 1)
    expect(failures).to.deep.equal([{ client: 1, line: 3, message: 'line 3: ReferenceError: nope is not defined' }])
  })

  it('fails with the line of the call that the server refused', async () => {
    const { failures } = await judged(`await sleep(5)\n\nawait zk.getData('/none')\nawait sleep(5)`, 1)
    expect(failures[0]?.line).to.equal(3)
    expect(failures[0]?.message).to.match(/^line 3: .*NONODE/)
  })

  it('fails with the line of a recipe that rejects', async () => {
    const { failures } = await judged(`await sleep(5)\nawait new Mutex(zk, '/a').acquire({ timeout: -1 })`, 1)
    expect(failures[0]?.line).to.equal(2)
  })

  it('is inside no longer when it ends, fails or dies', async () => {
    for (const end of ['return', "throw new Error('x')", 'await kill()']) {
      const { overlaps, unfinished } = await judged(`await sleep(100 * me); enter(); ${end}`)
      expect(overlaps, end).to.deep.equal([])
      expect(unfinished, end).to.deep.equal([])
    }
  })

  it('can stop its own process, which is still inside then', async () => {
    const world = await runProgram(`
if (me === 1) { enter(); await stop(15); leave() }
else { await sleep(3000); enter(); await sleep(1); leave() }`)
    const { overlaps } = verdictOf(world.picture())
    expect(overlaps).to.have.length(2)
    expect(world.picture().clients[0]?.state).to.equal('expired')
    await world.close()
  })

  it('waits at most a minute of virtual time for a program that does not end', async () => {
    const world = await runProgram(`if (me === 2) await new Promise(() => {})`)
    expect(world.now).to.equal(60_000)
    expect(verdictOf(world.picture()).unfinished).to.deep.equal([2])
    await world.close()
  })

  it('has a clock and chance of its own, and no timer of the real world', async () => {
    const world = await runProgram(`
console.log(Date.now(), Math.random(), typeof setInterval, typeof crypto, typeof connect)
await new Promise(resolve => setTimeout(resolve, 20_000))`)
    const text = world.picture().clients[0]?.journal.find(({ kind, text }) => kind === 'result' && text.includes('17'))
    expect(text?.text).to.match(/^17\d+ 0\.\d+ undefined undefined undefined$/)
    expect(world.now).to.be.within(20_000, 21_000)
    await world.close()
  })

  it('runs the first code of the README as it is, and imports in each form, with the lines of their errors', async () => {
    const readme = await readFile(join(import.meta.dirname, '../../../README.md'), 'utf8')
    const first = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ''
    expect(first).to.include("import { Server } from 'zkwire/server'")
    const world = await runProgram(first, { clients: 2 })
    for (const { journal, ended } of world.picture().clients) {
      expect(ended).to.have.keys('at')
      expect(journal.some(({ text }) => text.startsWith('held with fencing token'))).to.equal(true)
    }
    await world.close()
    const { failures } = await judged(
      `import 'zkwire'
  import * as all from "zkwire"
import {
  Mutex as Lock,
  Semaphore,
} from 'zkwire/recipes';
import { connect, supervise } from 'zkwire'
await supervise('a,b', {}, async (client, signal) => { if (client !== zk || signal.aborted) nope() })
if ((await connect('x')) !== zk || all.connect !== connect || new Lock(zk, '/a').path !== '/a' || !Semaphore) nope()
wrong()`,
      1,
    )
    expect(failures).to.deep.equal([{ client: 1, line: 10, message: 'line 10: ReferenceError: wrong is not defined' }])
  })

  it('tells what can be imported if it imports something else', () => {
    expect(syntaxProblem("import 'node:fs'", 1, 'SyntaxError: Cannot use import statement outside a module')).to.equal(
      'Line 1: A program can import names from zkwire, zkwire/recipes and zkwire/server only.',
    )
    expect(codeOf("import fs from 'node:fs'\nimport { a } from './a'", 0)).to.include(
      "import fs from 'node:fs'\nimport { a }",
    )
  })

  it('cannot fill the memory with calls for whose answers it does not wait', async () => {
    const { failures } = await judged(`while (true) void zk.exists('/a')`, 1)
    expect(failures[0]?.message).to.match(/1000 calls .* use await/)
  })

  for (const [title, token] of [
    ['that nobody waits for', NaN],
    ['in place of its world', 0.5],
  ] as const)
    it(`is ended when it sends an answer ${title}`, async () => {
      let end = 0
      let handler: WorldHandler | undefined
      let isForging = false
      const start: StartWorld = (text, given) => {
        const port = startInProcess(text, (handler = given))
        return {
          send: (...question) => (isForging ? handler?.answered({ error: 'forged' }, token) : port.send(...question)),
          end: () => {
            end++
            port.end()
          },
        }
      }
      const scenario = { recipe: 'bare-clients', clients: 1, servers: 1, seed: 1 } as const
      const world = await RemoteWorld.open(start, { text: '', story: { scenario, commands: [], frames: 0 } }, 0)
      isForging = true
      if (title === 'that nobody waits for') handler?.answered({ error: 'forged' }, token)
      expect(await world.step().catch((error: unknown) => String(error))).to.equal(
        'Error: The program itself sent a message to the page, so it was ended.',
      )
      expect(end).to.be.above(0)
      await world.close()
    })

  it('obeys what the reader does to its clients', async () => {
    const world = await runProgram(`enter(); await sleep(1000); leave()`, { clients: 1 })
    const back = await world.replayed(5)
    expect(await back.act({ kind: 'kill', client: 1 })).to.equal(true)
    await back.settle()
    expect(back.picture().clients[0]?.process).to.equal('dead')
    expect(back.story.commands).to.have.length(1)
    for (const each of [world, back]) await each.close()
  })

  it('leaves a world without a program as it was', async () => {
    await using world = await World.open({ recipe: 'bare-clients', clients: 1, servers: 1, seed: 1 })
    await world.settle()
    expect(world.picture().clients[0]?.ended).to.equal(undefined)
  })
})
