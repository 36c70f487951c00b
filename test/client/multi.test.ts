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

  it('rejects with PROTOCOL if the server returns too few results, too many, or results of another type', async () => {
    for (const body of [[], [deleted, deleted, deleted], [deleted, { type: opcodes.check, body: {} }]]) {
      const { client, connection } = await scriptedSession()
      const failure = failureOf(client.multi([{ delete: '/a' }, { delete: '/b' }]))
      connection.reply(await connection.next(), { body })
      expect(await failure).to.include({ code: 'PROTOCOL', fate: 'unknown', op: 'multi', path: '/a /b' })
    }
  })
})
