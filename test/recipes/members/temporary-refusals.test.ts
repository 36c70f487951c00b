// What goes on for as long as its process is not ended by a refusal that is temporary, whatever request the server refuses.
import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import { TEMPORARY } from '../../../src/recipes/call/retry-until-done.ts'
import {
  Cache,
  Membership,
  Partitioner,
  PersistentEphemeral,
  Services,
  type CacheChange,
} from '../../../src/recipes/index.ts'
import { abortOf } from '../../support/settled.ts'
import { opcodesInto } from '../../support/sent-opcodes.ts'
import { turns } from '../../support/turns.ts'
import { PATH, Stage, started, type Scene } from '../public-calls.ts'

/** Those that servers send. */
const codes = TEMPORARY.filter(code => code !== 'TOOMANYPENDING')

interface Running {
  /** Another process changes what this one keeps or follows. */
  disturb: () => Promise<unknown>
  /** Returns what must be the same again in the end. */
  show: () => unknown
}

const ownerOf = async ({ other }: Scene, path: string) => (await other.exists(path))?.ephemeralOwner

const kept: Readonly<Record<string, (scene: Scene) => Promise<Running>>> = {
  async PersistentEphemeral(scene) {
    await started(scene.closeLater(new PersistentEphemeral(PATH)), scene.client)
    return { disturb: () => scene.other.delete(PATH), show: () => ownerOf(scene, PATH) }
  },
  async Membership(scene) {
    const group = await started(scene.closeLater(new Membership(PATH, { id: 'me' })), scene.client)
    const others = ['a', 'b']
    const disturb = async () => {
      await scene.other.create(`${PATH}/${others.shift()}`)
      await scene.other.delete(`${PATH}/me`)
    }
    return {
      disturb,
      show: async () => [await ownerOf(scene, `${PATH}/me`), group.members.some(({ id }) => id === 'me')],
    }
  },
  async Services(scene) {
    const services = await started(scene.closeLater(new Services(PATH)), scene.client)
    await services.register({ name: 'api', id: 'a' })
    const provider = await services.provider('api')
    const disturb = () => scene.other.delete(`${PATH}/api/a`)
    return { disturb, show: () => provider.instances.map(({ id }) => id) }
  },
  async Cache(scene) {
    await scene.other.create(PATH, '1')
    const cache = scene.closeLater(new Cache(scene.client, PATH))
    const changes: CacheChange[] = []
    cache.on('change', change => changes.push(change))
    await cache.ready
    const disturb = async () => {
      await scene.other.create(`${PATH}/x`)
      await scene.other.setData(PATH, '2')
      await scene.other.delete(`${PATH}/x`)
      await scene.other.setData(PATH, '1')
    }
    return { disturb, show: () => [cache.state, cache.size, String(cache.get(PATH)?.data)] }
  },
  async Partitioner(scene) {
    const owned = new Set<string>()
    const stop = new AbortController()
    const running = new Partitioner(scene.client, PATH, ['a', 'b'], { id: 'me' }).run(
      async (item, held) => {
        owned.add(item)
        await abortOf(held.signal)
        owned.delete(item)
      },
      { signal: stop.signal },
    )
    running.catch(() => undefined)
    scene.closeLater({ close: () => (stop.abort(), running) })
    await turns()
    const disturb = async () => {
      const locks = `${PATH}/locks`
      const names = (await scene.other.getChildren(PATH)).children
      const [directory = locks] = names.filter(name => name !== 'members').map(name => `${PATH}/${name}`)
      for (const name of (await scene.other.getChildren(directory)).children)
        await scene.other.delete(`${directory}/${name}`).catch(() => undefined)
    }
    return { disturb, show: () => [...owned].sort() }
  },
}

/** Returns the names of the operations that the client sends, before and after the disturbance. */
async function requestsOf(open: (scene: Scene) => Promise<Running>): Promise<string[]> {
  const sent: number[] = []
  const stage = await Stage.open({ onFrame: opcodesInto(sent) })
  const { disturb } = await stage.clock.until(open(stage.scene))
  await stage.clock.until(disturb())
  await stage.clock.advance(5000)
  const names = Object.entries(operations).filter(([, op]) => sent.includes((op as { opcode: number }).opcode))
  await stage.close()
  return names.map(([name]) => name).filter(name => !/^(ping|auth|closeSession|setWatches)/.test(name))
}

describe('a temporary refusal ends nothing that goes on:', () => {
  for (const [name, open] of Object.entries(kept))
    for (const when of ['at its start', 'when another process disturbs it'] as const)
      it(`${name}, ${when}, for each request that it sends`, async () => {
        const errors: unknown[] = []
        for (const [nth, request] of (await requestsOf(open)).entries()) {
          const code = codes[nth % codes.length] as (typeof codes)[number]
          const stage = await Stage.open({ onUncaughtError: error => errors.push(error) })
          const { clock, scene, server } = stage
          const refuse = () =>
            server.faults.replace(request as 'exists', code, { times: 2, session: scene.client.sessionId })
          if (when === 'at its start') refuse()
          const { disturb, show } = await clock.until(open(scene))
          await clock.advance(5000)
          const before = await show()
          if (when !== 'at its start') refuse()
          await clock.until(disturb())
          await clock.advance(10_000)
          expect(await show(), `${code} of ${request}`).to.deep.equal(before)
          server.faults.clear()
          await stage.close()
        }
        expect(errors).to.deep.equal([])
      })
})
