// The classes whose objects outlive a session. They get the client of each session later, by a method.
import { expect } from 'chai'
import { connect, ZooKeeperError, type Client } from '../../../src/index.ts'
import { Membership, Partitioner, PersistentEphemeral, Services } from '../../../src/recipes/index.ts'
import { Server } from '../../../src/server/index.ts'
import { failureOf } from '../../support/settled.ts'

type Make = (path: never, options?: never) => unknown

const classes: Readonly<Record<string, { make: Make; method: string; options: object }>> = {
  Membership: {
    make: (...args) => new Membership(...args),
    method: 'start',
    options: { id: 'me', data: '', dialect: 'curator', observer: false },
  },
  PersistentEphemeral: {
    make: (...args) => new PersistentEphemeral(...args),
    method: 'start',
    options: { data: null, mode: 'persistentTTL', ttl: 1, takeOver: false },
  },
  Services: { make: (...args) => new Services(...args), method: 'start', options: {} },
}

describe("the arguments of members' recipes", () => {
  let server: Server
  let client: Client

  before(async () => {
    server = await Server.start()
    client = await connect(server.connectString)
  })

  after(async () => {
    await client.close()
    await server.close()
  })

  const expectRefused = async (call: () => unknown, op: string, path: string, detail: RegExp) => {
    const error = await failureOf(Promise.resolve().then(call))
    expect(error).to.be.instanceOf(ZooKeeperError).and.to.include({ code: 'BADARGUMENTS', op, path, fate: 'notSent' })
    expect((error as Error).message).to.match(detail)
  }

  for (const [name, { make, method, options }] of Object.entries(classes))
    describe(`new ${name}()`, () => {
      it('refuses a path that is missing, not a string, or without a leading slash', async () => {
        await expectRefused(() => make(undefined as never), name, '', /path/)
        await expectRefused(() => make(5 as never), name, '', /path/)
        await expectRefused(() => make('l' as never), name, 'l', /path.*\//)
        await expectRefused(() => make('/a/' as never), name, '/a/', /path/)
      })

      it('refuses wrong options, and names the most similar known one', async () => {
        const refused = (wrong: unknown, detail: RegExp) =>
          expectRefused(() => make('/l' as never, wrong as never), name, '/l', detail)
        for (const wrong of [null, 5, 'kazoo', [], () => undefined]) await refused(wrong, /options must be/)
        await refused({ ACLs: [] }, /no option 'ACLs'; did you mean 'acl'/)
        await refused({ acl: 'open' }, /acl must be a list/)
      })

      it(`accepts the options that exist, and refuses in ${method}() a value that is no client`, async () => {
        const made = make('/l' as never, { acl: undefined, ...options } as never) as Record<string, unknown>
        const call = (other: unknown) => () => (made[method] as (client: unknown) => Promise<void>).call(made, other)
        await expectRefused(call(Promise.resolve(client)), method, '/l', /promise: did you forget await\?/)
        await expectRefused(call('localhost:2181'), method, '/l', /must be a client/)
      })
    })

  it('are refused by Partitioner if the items are no list of strings that are not empty', async () => {
    for (const items of [undefined, null, 5, 'abc', {}, [''], [5], ['\ud800']] as never[])
      await expectRefused(() => new Partitioner(client, '/l', items), 'Partitioner', '/l', /items must be a list/)
  })
})
