import { expect } from 'chai'
import { inspect } from 'node:util'
import { errnos, explain, xids } from '../../../src/protocol/index.ts'
import type { ObservedFrame } from '../../../src/client/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { PASSWORD, replyFrame } from '../../support/scripted-server.ts'
import { reconnect, scriptedSession, scriptedConnect, T } from '../../support/scripted-session.ts'

const secrets = {
  'session password': PASSWORD,
  credentials: Buffer.from('ann:canary-given'),
  'later credentials': Buffer.from('bob:canary-added'),
}

/** Checks that the text contains no secret in any common representation of bytes. */
function expectNoSecret(text: string): void {
  for (const [name, secret] of Object.entries(secrets)) {
    for (const form of [
      secret.toString(),
      secret.toString('hex'),
      secret.toString('base64'),
      secret.toString('hex').replace(/(..)(?!$)/g, '$1 '),
      secret.join(','),
      secret.join(', '),
      secret.subarray(-8).toString(),
    ])
      expect(text.includes(form), `the ${name} in: ${text}`).to.equal(false)
  }
}

const printed = (value: unknown): string =>
  [inspect(value, { depth: 9, showHidden: true }), JSON.stringify({ value }), String(value)].join('\n')

const auth = [{ scheme: 'digest', auth: 'ann:canary-given' }]

describe('a secret', () => {
  it('is detected by the check of these tests', () => {
    expect(() => expectNoSecret(printed({ password: PASSWORD }))).to.throw('session password')
    expect(() => expectNoSecret(inspect(new Error('bob:canary-added')))).to.throw('later credentials')
  })

  it('is not in the printed form of a client in any state', async () => {
    const all = await scriptedSession({ auth })
    const { client } = all
    client.addAuth('digest', 'bob:canary-added').catch(() => undefined)
    const view = client.chroot('/view')
    const promise = client.getData('/a').catch(() => undefined)
    for (const value of [client, view, promise, client.leaseSignal, client.transaction()])
      expectNoSecret(printed(value))
    all.connection.close()
    expectNoSecret(printed(client))
    await reconnect(all)
    expectNoSecret(printed(client))
    client.close().catch(() => undefined)
    await all.clock.advance(T)
    expectNoSecret(printed(client))
  })

  it('is in no getter of a client but sessionPassword, even if util.inspect() shows all that it can', async () => {
    const { client } = await scriptedSession({ auth })
    client.addAuth('digest', 'bob:canary-added').catch(() => undefined)
    const everything = { depth: 9, showHidden: true, getters: true }
    for (const value of [client, client.chroot('/view'), client.transaction()]) {
      expectNoSecret(inspect(value, everything))
      Object.defineProperty(value, 'sessionPassword', { value: 'left out' })
      expectNoSecret(inspect(value, { ...everything, customInspect: false }))
    }
  })

  it('is not in an error or its causes', async () => {
    const errors: unknown[] = []
    const keep = (error: unknown) => void errors.push(error)
    const all = await scriptedSession({ auth, maxRequestBytes: 200 })
    const { client, connection } = all
    const more = client.addAuth('digest', 'bob:canary-added').catch(keep)
    client.setData('/a', Buffer.alloc(300)).catch(keep)
    client.setData('/a', '\ud800').catch(keep)
    client.addAuth('digest', 'bob:canary-added\ud800').catch(keep)
    client.getData('bad').catch(keep)
    const lost = client.getData('/a').catch(keep)
    await settle()
    connection.send(replyFrame(999, 1n))
    await lost
    const second = await reconnect(all)
    const refused = client.getData('/a').catch(keep)
    await settle()
    second.send(replyFrame(xids.auth, 1n, errnos.AUTHFAILED))
    await Promise.all([more, refused])
    const { opening, server, clock } = scriptedConnect({
      auth,
      session: { id: 7n, password: PASSWORD },
      connectTimeout: 100,
    })
    const failed = opening.catch(keep)
    ;(await server.next()).open()
    await clock.advance(100)
    await failed
    expect(errors).to.have.length(8)
    for (const error of errors) expectNoSecret(printed(error))
    expectNoSecret(printed(all.callbackErrors))
  })

  it('is not in the output of explain() for an observed frame', async () => {
    const frames: ObservedFrame[] = []
    const all = await scriptedSession({ auth, onFrame: frame => frames.push(frame) })
    void all.client.addAuth('digest', 'bob:canary-added').catch(() => undefined)
    await settle()
    all.connection.close()
    await reconnect(all)
    expect(frames.filter(({ first }) => first)).to.have.length(4)
    expect(frames.length).to.be.at.least(8)
    for (const frame of frames) {
      const { sentence, dump } = explain(frame.bytes, frame)
      expectNoSecret(sentence)
      expectNoSecret(dump)
    }
  })

  it('is copied when it is returned', async () => {
    const { client } = await scriptedSession()
    client.sessionPassword.fill(0)
    expect(client.sessionPassword).to.deep.equal(PASSWORD)
  })
})
