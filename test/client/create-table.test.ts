// What create() makes: each way to create a node, each mode, with and without an ACL, data and a chroot.
import { expect } from 'chai'
import { aclOf, openACL, perms, type ACL, type Client, type CreateOptions } from '../../src/index.ts'
import { createModes, type CreateMode } from '../../src/protocol/index.ts'
import type { NodeKind } from '../../src/server/index.ts'
import { VirtualServer } from '../support/virtual-server.ts'

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
  const virtual = VirtualServer.each({ extendedTypes: true })

  for (const [way, create] of Object.entries(ways))
    for (const mode of modes)
      for (const chroot of ['', '/root'])
        it(`by ${way}, in mode ${mode}, ${chroot === '' ? 'without' : 'below'} a chroot`, async () => {
          const outer = await virtual.open()
          const client = outer.chroot(chroot === '' ? '/' : chroot)
          const ttl = mode.includes('TTL') ? TTL : undefined
          await virtual.until(outer.ensurePath(`${chroot}/above`))
          for (const acl of [undefined, readOnly])
            for (const data of ['x', '', null]) {
              const path = await virtual.until(create(client, data, { mode, ttl, acl }))
              expect(path).to.match(mode.includes('equential') ? /^\/above\/node\d{10}$/ : /^\/above\/node$/)
              const node = virtual.server.snapshot().nodes.get(`${chroot}${path}`)
              expect([node?.acl, node?.data === null ? null : String(node?.data)]).to.deep.equal([acl ?? openACL, data])
              expect(node?.kind).to.deep.equal(kindOf(mode, client))
              await virtual.until(client.delete(path))
            }
          await virtual.until(outer.close())
        })
})
