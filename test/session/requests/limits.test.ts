import { expect } from 'chai'
import { operations } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { replyFrame } from '../../support/scripted-server.ts'
import { trackSettled } from '../../support/settled.ts'
import { dataReply, reconnect, scriptedSession } from '../../support/scripted-session.ts'

describe('maxPending', () => {
  it('rejects a request above the limit, connected or suspended, until a reply arrives', async () => {
    const all = await scriptedSession({ maxPending: 3 })
    const { client, connection } = all
    const calls = ['/1', '/2', '/3'].map(path => client.getData(path).catch((error: unknown) => error))
    const refusal = { code: 'TOOMANYPENDING', fate: 'notSent', op: 'getData', path: '/4' }
    await settle()
    expect(connection.requests).to.have.length(3)
    const isRefused = trackSettled(client.getData('/4'))
    await settle()
    expect(isRefused()).to.equal(true)
    expect(await client.getData('/4').catch((error: unknown) => error)).to.include(refusal)
    connection.reply(await connection.next(), dataReply())
    await calls[0]
    const fourth = client.getData('/4').catch((error: unknown) => error)
    expect(await client.getData('/4').catch((error: unknown) => error)).to.include(refusal)
    connection.close()
    await Promise.all([...calls, fourth])
    const queued = ['/5', '/6', '/7'].map(path => client.getData(path))
    expect(await client.getData('/4').catch((error: unknown) => error)).to.include(refusal)
    const second = await reconnect(all)
    for (const request of second.requests) second.reply(request, dataReply())
    await Promise.all(queued)
  })

  it('counts a cancelled request until its reply if it was sent, but not if it was queued', async () => {
    const all = await scriptedSession({ maxPending: 1 })
    const { client, connection } = all
    const controller = new AbortController()
    const sent = client.getData('/sent', { signal: controller.signal }).catch(() => 'cancelled')
    const request = await connection.next()
    controller.abort()
    await sent
    expect(await client.getData('/a').catch((error: unknown) => error)).to.include({ code: 'TOOMANYPENDING' })
    connection.reply(request, dataReply())
    connection.close()
    const other = new AbortController()
    const queued = client.getData('/queued', { signal: other.signal }).catch(() => 'cancelled')
    other.abort()
    await queued
    const waiting = client.getData('/waiting')
    const second = await reconnect(all)
    second.reply(await second.next(), dataReply())
    await waiting
  })

  it('does not apply to requests that remove a watch, because the watch would stay at the server', async () => {
    const { client, connection } = await scriptedSession({ maxPending: 2 })
    const controller = new AbortController()
    const paths = ['/1', '/2', '/3', '/4', '/5']
    for (const path of paths) {
      const armed = client.getData(path, { watch: () => undefined, signal: controller.signal })
      connection.reply(await connection.next(), dataReply())
      await armed
    }
    controller.abort()
    const settled = client.settled()
    await settle()
    expect(connection.requests.slice(paths.length)).to.have.length(paths.length)
    for (const path of paths) {
      const request = await connection.next()
      expect(request).to.deep.include({ op: operations.removeWatches, body: { path, type: 2 } })
      connection.reply(request, {})
    }
    await settled
  })

  it('does not count requests that have ended, however they ended', async () => {
    const all = await scriptedSession({ maxPending: 2, maxReplyBytes: 1000 })
    const { client, connection } = all
    const fail = (call: Promise<unknown>) => call.catch((error: unknown) => (error as { code: string }).code)
    const large = fail(client.getData('/large'))
    const other = fail(client.getData('/other'))
    connection.reply(await connection.next(), dataReply('x'.repeat(1000)))
    expect(await Promise.all([large, other])).to.deep.equal(['REPLYTOOLARGE', 'CONNECTIONLOSS'])
    const second = await reconnect(all)
    const refused = [fail(client.getData('/a')), fail(client.setData('/b', 'x'.repeat(2_000_000)))]
    const broken = fail(client.getData('/c'))
    second.reply(await second.next(), { err: -101 })
    const { xid } = await second.next()
    second.send(replyFrame(xid, 1n))
    expect(await Promise.all([...refused, broken])).to.deep.equal(['NONODE', 'REQUESTTOOLARGE', 'PROTOCOL'])
    const third = await reconnect(all)
    const two = [client.getData('/1'), client.getData('/2')]
    for (let i = 0; i < 2; i++) third.reply(await third.next(), dataReply())
    await Promise.all(two)
  })
})

describe('maxRequestBytes', () => {
  it('rejects a request that is one byte too large without sending it, and affects no other request', async () => {
    const { client, connection } = await scriptedSession({ maxRequestBytes: 1000 })
    const overhead = 8 + 4 + '/a'.length + 4 + 4
    const before = client.getData('/before')
    const fits = client.setData('/a', Buffer.alloc(1000 - overhead)).catch(() => undefined)
    const tooLarge = client.setData('/a', Buffer.alloc(1001 - overhead)).catch((error: unknown) => error)
    const after = client.getData('/after')
    expect(await tooLarge).to.include({ code: 'REQUESTTOOLARGE', fate: 'notSent', op: 'setData', path: '/a' })
    expect(String(await tooLarge)).to.contain('1001 bytes, the limit is 1000')
    await settle()
    expect(connection.requests.map(({ op }) => op.name)).to.deep.equal(['getData', 'setData', 'getData'])
    for (const request of connection.requests)
      connection.reply(request, request.op.name === 'getData' ? dataReply() : { err: -101 })
    await Promise.all([before, fits, after])
    expect(connection.dropped).to.equal(false)
  })

  it('names only the first paths of a request with many', async () => {
    const { client } = await scriptedSession()
    const paths = Array.from({ length: 30_000 }, (_, i) => `/some/path/of/a/node/${i}`)
    for (const call of [
      client.multi(paths.map(path => ({ create: path }))),
      client.multiRead(paths.map(path => ({ getData: path }))),
    ]) {
      const error = await call.catch((error: unknown) => error)
      expect(error).to.include({
        code: 'REQUESTTOOLARGE',
        path: `${paths.slice(0, 3).join(' ')} … 30000 in all`,
      })
      expect(error).to.have.property('message').with.lengthOf.below(400)
    }
  })

  it('applies while suspended too', async () => {
    const { client, connection } = await scriptedSession({ maxRequestBytes: 1000 })
    connection.close()
    const call = client.setData('/a', Buffer.alloc(1000)).catch((error: unknown) => error)
    expect(await call).to.include({ code: 'REQUESTTOOLARGE', fate: 'notSent' })
  })

  it('is slightly below the limit of a server by default', async () => {
    const { client, connection } = await scriptedSession()
    const call = client.setData('/a', Buffer.alloc(1_048_575)).catch((error: unknown) => error)
    expect(await call).to.include({ code: 'REQUESTTOOLARGE' })
    client.setData('/a', Buffer.alloc(1_048_000)).catch(() => undefined)
    await connection.next()
  })
})

describe('maxReplyBytes', () => {
  it('accepts a reply of exactly that size, and rejects the call if its reply is larger', async () => {
    const all = await scriptedSession({ maxReplyBytes: 1000 })
    const { client, connection } = all
    const overhead = 16 + 4 + 68
    const fits = client.getData('/fits')
    connection.reply(await connection.next(), dataReply('x'.repeat(1000 - overhead)))
    expect((await fits).data).to.have.length(1000 - overhead)
    const [head, other] = ['/head', '/other'].map(path => client.getData(path).catch((error: unknown) => error))
    connection.reply(await connection.next(), dataReply('x'.repeat(1001 - overhead)))
    expect(await head).to.include({ code: 'REPLYTOOLARGE', fate: 'unknown', op: 'getData', path: '/head' })
    expect(await other).to.include({ code: 'CONNECTIONLOSS', fate: 'unknown', path: '/other' })
    expect(connection.dropped).to.equal(true)
  })

  it('does not keep the watch of the failed call pending', async () => {
    const all = await scriptedSession({ maxReplyBytes: 1000 })
    const { client, connection } = all
    const failed = client.getData('/a', { watch: () => undefined }).catch(() => undefined)
    connection.reply(await connection.next(), dataReply('x'.repeat(1000)))
    await failed
    const second = await reconnect(all)
    const controller = new AbortController()
    const armed = client.getData('/a', { watch: () => undefined, signal: controller.signal })
    second.reply(await second.next(), dataReply())
    await armed
    controller.abort()
    expect((await second.next()).body).to.deep.equal({ path: '/a', type: 2 })
  })

  it('applies to the announced length, before a byte of the frame has arrived', async () => {
    const { connection } = await scriptedSession({ maxReplyBytes: 1000 })
    const length = Buffer.alloc(4)
    length.writeInt32BE(1001)
    connection.send(length.subarray(0, 3))
    expect(connection.dropped).to.equal(false)
    connection.send(length.subarray(3))
    expect(connection.dropped).to.equal(true)
  })
})

describe('the queue of a suspended client', () => {
  it('uses memory in proportion to its content', async () => {
    const { client, connection } = await scriptedSession()
    connection.close()
    const before = process.memoryUsage().arrayBuffers
    const calls = Array.from({ length: 10_000 }, () => client.getData('/a').catch(() => undefined))
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(10_000 * 200)
    connection.close()
    client.close().catch(() => undefined)
    await Promise.all(calls)
  })
})

describe('a string with a lone surrogate', () => {
  it('is rejected, connected or suspended, and not sent', async () => {
    const all = await scriptedSession()
    const { client, connection } = all
    const refusal = { code: 'BADARGUMENTS', fate: 'notSent', op: 'setData' }
    expect(await client.setData('/a', '\ud800').catch((error: unknown) => error)).to.include(refusal)
    connection.close()
    expect(await client.setData('/a', '\ud800').catch((error: unknown) => error)).to.include(refusal)
    const read = client.getData('/a')
    const second = await reconnect(all)
    expect(second.requests).to.have.length(1)
    second.reply(await second.next(), dataReply())
    await read
    expect(connection.requests).to.have.length(0)
  })
})
