// An ensemble that was wiped, and filled again by the same program: its nodes have the same zxids again. What goes on in
// the next session must tell their new data.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { Cache, Membership, Services, type CacheOptions } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { onBothServers, type Fixture } from './fixture.ts'

/** A server that was filled by the same program with other data. */
class Life implements AsyncDisposable {
  readonly client: Client
  readonly #server: Server

  private constructor(server: Server, client: Client) {
    this.#server = server
    this.client = client
  }

  static async begin({ server: { clock } }: Fixture, data: Record<string, string>): Promise<Life> {
    const server = await Server.start({ listen: false, clock })
    const client = await connect(server.connectString, { dial: server.dial, clock })
    for (const [path, text] of Object.entries(data)) await client.create(path, text)
    return new Life(server, client)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    await this.#server.close()
  }
}

const [before, after] = [
  { '/app': '', '/app/a': 'old', '/app/b': 'same' },
  { '/app': '', '/app/a': 'new', '/app/b': 'same' },
]

onBothServers('After a wipe', (fixture, { itInVirtualTime }) => {
  /** Runs the work in the first life and then in the second. */
  const inTwoLives = async (
    work: (client: Client) => Promise<void>,
    lives: readonly Record<string, string>[] = [before, after],
    pause = 0,
  ) => {
    const czxids = []
    for (const data of lives) {
      await using life = await Life.begin(fixture, data)
      const [path] = Object.keys(data).slice(1) as [string]
      czxids.push((await life.client.exists(path))?.czxid)
      await work(life.client)
      if (pause > 0) await fixture.sleep(pause)
    }
    expect(czxids[0]).to.equal(czxids[1]).and.not.equal(undefined)
  }

  const caches: readonly [string, CacheOptions, pause: number, told: string[]][] = [
    ['at the same time of day', {}, 0, ['changed /app/a old new']],
    ['with a codec', { codec: { encode: reversed, decode: reversed } }, 0, ['changed /app/a old new']],
    [
      'later, without the data',
      { data: false },
      10_000,
      ['/app', '/app/a', '/app/b'].flatMap(path => [
        `deleted ${path} undefined undefined`,
        `created ${path} undefined undefined`,
      ]),
    ],
  ]
  for (const [when, options, pause, expected] of caches)
    itInVirtualTime(`a Cache tells what differs from its previous one, if it was filled ${when}`, async () => {
      let previous: Cache | undefined
      const told: string[] = []
      const work = async (client: Client) => {
        const cache = new Cache(client, '/app', { ...options, previous })
        if (previous !== undefined)
          cache.on('change', ({ type, path, old, node }) =>
            told.push(`${type} ${path} ${String(old?.data)} ${String(node?.data)}`),
          )
        await cache.ready
        await cache.close()
        previous = cache
      }
      await inTwoLives(work, [before, after], pause)
      expect(told.sort()).to.deep.equal(expected.sort())
      if (options.data !== false) expect(String(previous?.get('/app/a')?.data)).to.equal('new')
    })

  itInVirtualTime('an observer of a Membership has the new data', async () => {
    await using group = new Membership('/app', { observer: true })
    const told: string[] = []
    group.on('change', ({ joined, left, updated }) =>
      told.push(
        [joined, left, updated].map(each => each.map(({ id, data }) => `${id}=${String(data)}`).join()).join(';'),
      ),
    )
    await inTwoLives(client => group.start(client))
    expect(group.members.map(({ data }) => String(data))).to.deep.equal(['new', 'same'])
    expect(told).to.deep.equal(['a=old,b=same;;', ';;a=new'])
  })

  itInVirtualTime('a ServiceProvider chooses the new port', async () => {
    const instance = (port: number) => JSON.stringify({ name: 'api', id: 'a', address: 'h', port })
    const lives = [8080, 9090].map(port => ({ '/s': '', '/s/api': '', '/s/api/a': instance(port) }))
    await using services = new Services('/s')
    let chosen: (() => number | null | undefined) | undefined
    const ports: unknown[] = []
    const work = async (client: Client) => {
      await services.start(client)
      if (chosen === undefined) {
        const provider = await services.provider('api')
        chosen = () => provider.choose()?.port
      }
      ports.push(chosen())
    }
    await inTwoLives(work, lives)
    expect(ports).to.deep.equal([8080, 9090])
  })
})

function reversed(bytes: Buffer): Buffer {
  return Buffer.from(bytes).reverse()
}
