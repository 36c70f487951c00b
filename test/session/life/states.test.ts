import { expect } from 'chai'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { failureOf } from '../../support/settled.ts'
import { reconnect, scriptedSession } from '../../support/scripted-session.ts'
import { isConnected, isTerminal, mayMove, terminalCodes, type State } from '../../../src/session/life/states.ts'

const states: State[] = ['connecting', 'connected', 'connectedReadOnly', 'suspended', 'expired', 'authFailed', 'closed']
const terminal: State[] = ['expired', 'authFailed', 'closed']

describe('the states of a session', () => {
  it('change only to a different state, and terminal ones never change', () => {
    for (const from of states) {
      expect(mayMove(from, from), from).to.equal(false)
      expect(isTerminal(from), from).to.equal(terminal.includes(from))
      for (const to of states) if (terminal.includes(from)) expect(mayMove(from, to), `${from} ${to}`).to.equal(false)
    }
  })

  it('may change to a terminal one from any state that is not terminal', () => {
    for (const from of states) {
      if (terminal.includes(from)) continue
      for (const to of terminal) expect(mayMove(from, to), `${from} ${to}`).to.equal(true)
    }
  })

  it('become connected only from connecting or suspended, and suspended only from connected', () => {
    for (const to of ['connected', 'connectedReadOnly'] as const)
      expect(states.filter(from => mayMove(from, to))).to.deep.equal(['connecting', 'suspended'])
    expect(states.filter(from => mayMove(from, 'suspended'))).to.deep.equal(states.filter(isConnected))
    expect(states.filter(from => mayMove(from, 'connecting'))).to.deep.equal([])
  })

  it('have an error code if they are terminal', () => {
    expect(Object.keys(terminalCodes)).to.have.members(terminal)
  })
})

describe('a state listener', () => {
  it('belongs to its view, even if other views have the same function', async () => {
    const all = await scriptedSession()
    const changes: string[] = []
    const listener = (state: State, previous: State) => void changes.push(`${previous} ${state}`)
    const view = all.client.chroot('/view')
    all.client.on('state', listener).on('state', listener)
    view.on('state', listener)
    view.off('state', listener)
    all.connection.close()
    await settle()
    expect(changes).to.deep.equal(['connected suspended'])
    all.client.off('state', listener).off('state', listener)
    await reconnect(all)
    expect(changes).to.have.length(1)
  })

  it('of a closed view gets the state closed, and its whenConnected() rejects', async () => {
    const all = await scriptedSession()
    all.connection.close()
    await settle()
    const changes: string[] = []
    const view = all.client.chroot('/view')
    view.on('state', (state, previous) => void changes.push(`${previous} ${state}`))
    const waiting = failureOf(view.whenConnected())
    await view.close()
    await view.close()
    expect(await waiting).to.include({ code: 'CLOSED', fate: 'notSent' })
    await reconnect(all)
    expect(changes).to.deep.equal(['suspended closed'])
    expect(all.client.state).to.equal('connected')
  })

  it('is not called after off(), even if the state has changed before', async () => {
    const { client, connection } = await scriptedSession()
    const changes: State[] = []
    const listener = (state: State) => void changes.push(state)
    client.on('state', listener)
    connection.close()
    expect(client.state).to.equal('suspended')
    client.off('state', listener)
    await settle()
    expect(changes).to.deep.equal([])
  })

  it('is the only kind of listener: on() and off() throw for another event name', async () => {
    const { client } = await scriptedSession()
    for (const method of ['on', 'off'] as const)
      expect(() => client[method]('error' as never, () => undefined)).to.throw("there is no event 'error'")
  })

  it('ends with an error whose cause is the last lost connection', async () => {
    const all = await scriptedSession()
    all.connection.close()
    const queued = failureOf(all.client.getData('/a'))
    await reconnect(all, { timeOut: 0, sessionId: 0n })
    for (const error of [await queued, await failureOf(all.client.getData('/b'))]) {
      expect(error).to.include({ code: 'SESSIONEXPIRED', fate: 'notSent' })
      expect((error as Error).cause).to.include({ code: 'CONNECTIONLOSS' })
    }
  })
})
