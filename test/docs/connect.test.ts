// Checks docs/connect.md: each option is in its table with its true default, and the table of states says what happens.
import { expect } from 'chai'
import type { Client, WatchEvent, ZooKeeperError } from '../../src/index.ts'
import { nodeSettingsOf } from '../../src/client/node.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { readDocument } from '../support/document.ts'
import { failureOf } from '../support/settled.ts'
import { VirtualServer } from '../support/virtual-server.ts'

const codeOfFailure = async (call: Promise<unknown>) => ((await failureOf(call)) as ZooKeeperError).code

const rowsUnder = (heading: string): string[][] => {
  const section = readDocument('docs/connect.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\| (.*) \|$/gm)].slice(1).map(([, cells = '']) => cells.split(' | '))
}

describe('docs/connect.md', () => {
  const declared = ['src/client/options.ts', 'src/client/node.ts'].flatMap(file => {
    const [, body = ''] = /export interface (?:Common|Connect)Options [^]*?\n([^]*?)\n}/.exec(readDocument(file)) ?? []
    return [...body.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name = '']) => name)
  })
  const rows = new Map(rowsUnder('Options').map(([name = '', fallback = '']) => [name.replaceAll('`', ''), fallback]))

  it('has each declared option, and no other', () => {
    expect(declared).to.include.members(['sessionTimeout', 'tls'])
    expect([...rows.keys()]).to.have.members(declared)
  })

  it('has the true default of each option that has a value', () => {
    const settings: object = nodeSettingsOf({})
    // Their defaults are computed, or are functions and objects of this package.
    const others = ['connectTimeout', 'attemptTimeout', 'acl', 'dial', 'clock', 'random', 'onUncaughtError']
    let count = 0
    for (const [name, value] of Object.entries(settings)) {
      if (!rows.has(name) || others.includes(name)) continue
      const isNone = value === undefined || (Array.isArray(value) && value.length === 0)
      expect(rows.get(name), name).to.equal(isNone ? 'none' : String(value))
      count++
    }
    expect(count).to.be.above(8)
  })

  it('says rightly that connectTimeout is the session timeout', () => {
    expect(nodeSettingsOf({ sessionTimeout: 7_000 })).to.include({ connectTimeout: 7_000, waitsForServers: false })
  })

  describe('the table of states', () => {
    const virtual = VirtualServer.each({ client: { sessionTimeout: 6_000 } })
    let zk: Client
    beforeEach(async () => (zk = await virtual.connect()))

    it('has a row for each state', () => {
      const states = rowsUnder('States').flatMap(([cell = '']) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
      )
      const [, declaration = ''] = /export type State = (.*)/.exec(readDocument('src/session/life/states.ts')) ?? []
      expect(new Set(states)).to.deep.equal(new Set([...declaration.matchAll(/'(\w+)'/g)].map(([, name]) => name)))
    })

    it('is right about a connection that is lost for less than the lease', async () => {
      const held = await new Mutex(zk, '/lock').acquire()
      const events: WatchEvent[] = []
      await zk.exists('/app', { watch: event => void events.push(event) })
      const inFlight = codeOfFailure(zk.getData('/lock'))
      await virtual.server.stop()
      expect(await virtual.until(inFlight)).to.equal('CONNECTIONLOSS')
      const queued = zk.create('/app')
      await virtual.clock.advance(500)
      expect(zk.state).to.equal('suspended')
      expect(held.signal.aborted).to.equal(false)
      await virtual.server.start()
      await virtual.until(queued)
      expect(events.map(({ type }) => type)).to.deep.equal(['NodeCreated'])
      expect(held.signal.aborted).to.equal(false)
    })

    it('is right about a connection that is lost for longer', async () => {
      const held = await new Mutex(zk, '/lock').acquire()
      await virtual.server.stop()
      await virtual.clock.advance(100)
      const queued = codeOfFailure(zk.exists('/app'))
      await virtual.clock.advance(6_000)
      expect(await queued).to.equal('CONNECTIONLOSS')
      expect(await codeOfFailure(zk.exists('/app'))).to.equal('CONNECTIONLOSS')
      expect([zk.state, zk.validFor(), held.signal.aborted, zk.leaseSignal.aborted]).to.deep.equal([
        ...['suspended', 0],
        ...[true, true],
      ])
      await virtual.server.start()
      await virtual.until(zk.whenConnected())
      expect(held.signal.aborted).to.equal(true)
    })

    it('is right about the end of a session', async () => {
      const held = await new Mutex(zk, '/lock').acquire()
      const events: WatchEvent[] = []
      await zk.exists('/app', { watch: event => void events.push(event) })
      virtual.server.expireSession(zk.sessionId)
      await virtual.until(new Promise(resolve => zk.on('state', state => state === 'expired' && resolve(state))))
      expect(await codeOfFailure(zk.exists('/app'))).to.equal('SESSIONEXPIRED')
      expect(events.map(({ type }) => type)).to.deep.equal(['Session'])
      expect(held.signal.aborted).to.equal(true)
    })
  })
})
