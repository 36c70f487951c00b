// What create() makes: each way to create a node, each mode, with and without an ACL, data and a chroot.
import { expect } from 'chai'
import { aclOf, connect, openACL, perms, type ACL, type Client, type CreateOptions } from '../../src/index.ts'
import { createModes, type CreateMode } from '../../src/protocol/index.ts'
import { Server, type NodeKind } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const PATH = '/above/node'
const TTL = 60_000
const readOnly: readonly ACL[] = [aclOf('world', 'anyone', perms.read | perms.delete | perms.admin)]

type Way = (client: Client, data: string | null, options: CreateOptions) => Promise<string>

const ways: Readonly<Record<string, Way>> = {
  'create()': async (client, data, options) => (await client.create(PATH, data, options)).path,
  'create() with parents': async (client, data, options) =>
    (await client.create(PATH, data, { ...options, parents: true })).path,
  'multi()': async (client, data, options) => {
    const [created] = await client.multi([{ create: PATH, data, ...options }] as const)
    return created.path
  },
  'a transaction': async (client, data, options) => {
    const [created] = await client.transaction().create(PATH, data, options).commit()
    return (created as { path: string }).path
  },
}

const modes = Object.keys(createModes) as CreateMode[]

function kindOf(mode: CreateMode, { sessionId }: Client): NodeKind {
  if (mode.startsWith('ephemeral')) return { is: 'ephemeral', session: sessionId }
  if (mode.endsWith('TTL')) return { is: 'ttl', ttl: TTL }
  return { is: mode === 'container' ? 'container' : 'persistent' }
}

describe('a node is created as asked', () => {
  let clock: VirtualClock
  let server: Server

  beforeEach(async () => {
    clock = new VirtualClock()
    server = await Server.start({ listen: false, clock, extendedTypes: true })
  })
  afterEach(() => server.close())

  for (const [way, create] of Object.entries(ways))
    for (const mode of modes)
      for (const chroot of ['', '/root'])
        it(`by ${way}, in mode ${mode}, ${chroot === '' ? 'without' : 'below'} a chroot`, async () => {
          const outer = await clock.until(connect(server.connectString, { dial: server.dial, clock }))
          const client = outer.chroot(chroot === '' ? '/' : chroot)
          const ttl = mode.includes('TTL') ? TTL : undefined
          await clock.until(outer.ensurePath(`${chroot}/above`))
          for (const acl of [undefined, readOnly])
            for (const data of ['x', '', null]) {
              const path = await clock.until(create(client, data, { mode, ttl, acl }))
              expect(path).to.match(mode.includes('equential') ? /^\/above\/node\d{10}$/ : /^\/above\/node$/)
              const node = server.snapshot().nodes.get(`${chroot}${path}`)
              expect([node?.acl, node?.data === null ? null : String(node?.data)]).to.deep.equal([acl ?? openACL, data])
              expect(node?.kind).to.deep.equal(kindOf(mode, client))
              await clock.until(client.delete(path))
            }
          await clock.until(outer.close())
        })
})
