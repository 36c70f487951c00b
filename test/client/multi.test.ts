// A multi with a scripted server. test/client/real-server.test.ts has what real servers do.
import { expect } from 'chai'
import { opcodes, operations } from '../../src/protocol/index.ts'
import { failureOf } from '../support/settled.ts'
import { scriptedSession } from '../support/scripted-session.ts'

const deleted = { type: opcodes.delete, body: {} }

describe('a multi', () => {
  it('is sent as it was when it was called, although the caller changes the list later', async () => {
    const { client, connection } = await scriptedSession()
    const ops: { delete: string }[] = [{ delete: '/a' }]
    const done = client.multi(ops)
    ops.push({ delete: '/b' })
    connection.reply(await connection.next(), { body: [deleted] })
    expect(await done).to.deep.equal([undefined])
    expect(connection.requests.map(({ op }) => op)).to.deep.equal([operations.multi])
  })

  it('reads its reply by the operations as they were when it was called', async () => {
    const { client, connection } = await scriptedSession()
    const op: { create?: string; delete?: string } = { delete: '/a' }
    const done = client.multi([op as { delete: string }])
    delete op.delete
    op.create = '/b'
    connection.reply(await connection.next(), { body: [deleted] })
    expect(await done).to.deep.equal([undefined])
  })

  it('sends the version that each operation expects; -1, any version, if it names none', async () => {
    const { client, connection } = await scriptedSession()
    const ops = [
      { delete: '/a', version: 1 },
      { setData: '/a', data: '', version: 2 },
      { check: '/a', version: 3 },
      { delete: '/a' },
      { setData: '/a', data: '' },
      { check: '/a' },
    ]
    client.multi(ops).catch(() => undefined)
    const { body } = (await connection.next()) as { body: { body: { version: number } }[] }
    expect(body.map(item => item.body.version)).to.deep.equal([1, 2, 3, -1, -1, -1])
  })

  it('rejects an operation that names two kinds or none, because only one would be sent', async () => {
    const { client, connection } = await scriptedSession()
    for (const op of [{ check: '/a', delete: '/a' }, { create: '/a', setData: '/a', data: '' }, {}])
      expect(await failureOf(client.multi([op as never])))
        .to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
        .and.to.have.property('message')
        .that.contains('exactly one of')
    expect(connection.requests).to.deep.equal([])
  })

  it('rejects with PROTOCOL if the server returns too few results, too many, or results of another type', async () => {
    for (const body of [[], [deleted, deleted, deleted], [deleted, { type: opcodes.check, body: {} }]]) {
      const { client, connection } = await scriptedSession()
      const failure = failureOf(client.multi([{ delete: '/a' }, { delete: '/b' }]))
      connection.reply(await connection.next(), { body })
      expect(await failure).to.include({ code: 'PROTOCOL', fate: 'unknown', op: 'multi', path: '/a /b' })
    }
  })
})
