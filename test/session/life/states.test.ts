import { expect } from 'chai'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { failureOf } from '../../support/settled.ts'
import { reconnect, scripted } from '../../support/scripted-session.ts'
import { isConnected, isTerminal, mayMove, terminalCodes, type State } from '../../../src/session/life/states.ts'

const states: State[] = ['connecting', 'connected', 'connectedReadOnly', 'suspended', 'expired', 'authFailed', 'closed']
const terminal: State[] = ['expired', 'authFailed', 'closed']

describe('the states of a session', () => {
  it('are left for others only, and a terminal one for none', () => {
    for (const from of states) {
      expect(mayMove(from, from), from).to.equal(false)
      expect(isTerminal(from), from).to.equal(terminal.includes(from))
      for (const to of states) if (terminal.includes(from)) expect(mayMove(from, to), `${from} ${to}`).to.equal(false)
    }
  })

  it('may end from any that is not terminal', () => {
    for (const from of states) {
      if (terminal.includes(from)) continue
      for (const to of terminal) expect(mayMove(from, to), `${from} ${to}`).to.equal(true)
    }
  })

  it('are connected by way of connecting or suspended, and suspended after having been connected', () => {
    for (const to of ['connected', 'connectedReadOnly'] as const)
      expect(states.filter(from => mayMove(from, to))).to.deep.equal(['connecting', 'suspended'])
    expect(states.filter(from => mayMove(from, 'suspended'))).to.deep.equal(states.filter(isConnected))
    expect(states.filter(from => mayMove(from, 'connecting'))).to.deep.equal([])
  })

  it('have an error of their own where they are terminal', () => {
    expect(Object.keys(terminalCodes)).to.have.members(terminal)
  })
})

describe('listening to the state of a session', () => {
  it('is for each view to begin and to end, with the same function too', async () => {
    const all = await scripted()
    const heard: string[] = []
    const listener = (state: State, previous: State) => void heard.push(`${previous} ${state}`)
    const view = all.client.chroot('/view')
    all.client.on('state', listener).on('state', listener)
    view.on('state', listener)
    view.off('state', listener)
    all.connection.close()
    await settle()
    expect(heard).to.deep.equal(['connected suspended'])
    all.client.off('state', listener).off('state', listener)
    await reconnect(all)
    expect(heard).to.have.length(1)
  })

  it('of a view that is closed ends there, for its listeners and for who waits for a connection', async () => {
    const all = await scripted()
    all.connection.close()
    await settle()
    const heard: string[] = []
    const view = all.client.chroot('/view')
    view.on('state', (state, previous) => void heard.push(`${previous} ${state}`))
    const waiting = failureOf(view.whenConnected())
    await view.close()
    await view.close()
    expect(await waiting).to.include({ code: 'CLOSED', fate: 'notSent' })
    await reconnect(all)
    expect(heard).to.deep.equal(['suspended closed'])
    expect(all.client.state).to.equal('connected')
  })

  it('is all there is to listen to: another event is refused by name', async () => {
    const { client } = await scripted()
    for (const method of ['on', 'off'] as const)
      expect(() => client[method]('error' as never, () => undefined)).to.throw("there is no event 'error'")
  })
})
