// Old servers that lack an operation: the client sends a substitute, or rejects with UNIMPLEMENTED.
import { expect } from 'chai'
import { errnos, opcodes, operations } from '../../src/protocol/index.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { failureOf } from '../support/settled.ts'
import { statOf, type ScriptedConnection } from '../support/scripted-server.ts'
import { scriptedSession } from '../support/scripted-session.ts'

/** Answers the pending requests as a server of version 3.4 does. */
async function answerAsOf34(connection: ScriptedConnection): Promise<string[]> {
  const opNames: string[] = []
  for (let answered = 0; ; answered++) {
    await settle()
    const request = connection.requests[answered]
    if (request === undefined) return opNames
    const { op, body } = request
    opNames.push(op.name)
    if (op === operations.create) connection.reply(request, { body: { path: (body as { path: string }).path } })
    else if (op === operations.exists) connection.reply(request, { body: { stat: statOf({ czxid: 7n }) } })
    else connection.reply(request, { err: errnos.UNIMPLEMENTED })
  }
}

describe('on a server that lacks an operation,', () => {
  it('create2 is replaced by create and exists, and not sent again', async () => {
    const { client, connection } = await scriptedSession()
    const first = client.create('/a')
    expect(await answerAsOf34(connection)).to.deep.equal(['create2', 'create', 'exists'])
    expect(await first).to.deep.include({ path: '/a' })
    expect((await first).stat.czxid).to.equal(7n)
    const second = client.create('/b')
    await settle()
    expect(connection.requests.at(-1)?.op).to.equal(operations.create)
    second.catch(() => undefined)
  })

  it('a container becomes a persistent node', async () => {
    const { client, connection } = await scriptedSession()
    const created = client.create('/a', '', { mode: 'container' })
    expect(await answerAsOf34(connection)).to.deep.equal(['createContainer', 'create', 'exists'])
    expect(connection.requests[1]?.body).to.deep.include({ path: '/a', flags: 0 })
    expect((await created).path).to.equal('/a')
  })

  it('in a multi, a create returns no Stat and a container becomes a persistent node, also in later calls', async () => {
    const { client, connection } = await scriptedSession()
    const first = client.multi([{ create: '/a' }, { create: '/c', mode: 'container' }, { delete: '/old' }])
    connection.reply(await connection.next(), { err: errnos.MARSHALLINGERROR })
    const again = await connection.next()
    expect(again.body).to.containSubset([
      { type: opcodes.create, body: { path: '/a' } },
      { type: opcodes.create, body: { path: '/c', flags: 0 } },
      { type: opcodes.delete, body: { path: '/old' } },
    ])
    connection.reply(again, {
      body: [
        { type: opcodes.create, body: { path: '/a' } },
        { type: opcodes.create, body: { path: '/c' } },
        { type: opcodes.delete, body: {} },
      ],
    })
    expect(await first).to.deep.equal([{ path: '/a', stat: null }, { path: '/c', stat: null }, undefined])
    const second = client.transaction().create('/b').commit()
    const next = await connection.next()
    expect(next.body).to.containSubset([{ type: opcodes.create, body: { path: '/b' } }])
    connection.reply(next, { err: errnos.MARSHALLINGERROR })
    expect(await failureOf(second)).to.include({ code: 'MARSHALLINGERROR', op: 'multi' })
  })

  it('a node with a TTL is rejected', async () => {
    const { client, connection } = await scriptedSession()
    const refused = client.create('/a', '', { mode: 'persistentTTL', ttl: 1000 }).catch((error: unknown) => error)
    await answerAsOf34(connection)
    expect(await refused).to.deep.include({ code: 'UNIMPLEMENTED', op: 'create', path: '/a', fate: 'refused' })
  })

  it('a persistent watch is rejected, and one-shot watches that shared it get a resync', async () => {
    const { client, connection } = await scriptedSession()
    const refused = client.addWatch('/a').catch((error: unknown) => error)
    const events: string[] = []
    client.exists('/a', { watch: ({ type }) => events.push(type) }).catch(() => undefined)
    await settle()
    const [addWatch, exists] = connection.requests
    if (addWatch === undefined || exists === undefined) throw new Error('expected two requests')
    expect(exists.body).to.deep.include({ watch: false })
    connection.reply(exists.xid < addWatch.xid ? exists : addWatch, { err: errnos.UNIMPLEMENTED })
    connection.reply(exists, { body: { stat: statOf() } })
    expect(await refused).to.deep.include({ code: 'UNIMPLEMENTED', op: 'addWatch', path: '/a' })
    await settle()
    expect(events).to.deep.equal(['resync'])
  })
})
