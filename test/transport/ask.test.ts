// One question on a stream of its own.
import { expect } from 'chai'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { ask } from '../../src/transport/ask.ts'
import type { Dial, TransportHandler } from '../../src/transport/transport.ts'

describe('a question on a stream of its own', () => {
  /** Asks through a stream that the test serves, and records what happens to the stream and to the question. */
  const asked = (until: Parameters<typeof ask>[3] = {}) => {
    const events: string[] = []
    const handlers: TransportHandler[] = []
    const dial: Dial = (_address, handler) => {
      handlers.push(handler)
      return {
        write: bytes => void events.push(`write ${Buffer.from(bytes).toString()}`),
        destroy: () => void events.push('destroy'),
      }
    }
    const transport = ask(dial, { host: 'a', port: 1 }, Buffer.from('ruok'), until, (answer, cause) =>
      events.push(`end ${answer.toString()} ${cause?.message}`),
    )
    const [handler] = handlers as [TransportHandler]
    const receive = (text: string) => handler.received(Buffer.from(text))
    return { events, transport, handler, receive }
  }

  it('is sent when the stream is open, and answered by all chunks that arrive before its end', () => {
    const { events, handler, receive } = asked()
    handler.opened()
    receive('im')
    receive('ok')
    handler.closed()
    handler.closed()
    expect(events).to.deep.equal(['write ruok', 'destroy', 'end imok undefined'])
  })

  it('keeps a chunk that the transport overwrites', () => {
    const { events, handler } = asked()
    const chunk = Buffer.from('imok')
    handler.received(chunk)
    chunk.fill('x')
    handler.closed(new Error('reset'))
    expect(events.at(-1)).to.equal('end imok reset')
  })

  it('ends with enough bytes, and ignores what the stream still delivers', () => {
    const { events, handler, receive } = asked({ enough: 3 })
    receive('rw')
    receive('rw')
    receive('more')
    handler.closed(new Error('reset'))
    expect(events).to.deep.equal(['destroy', 'end rwrw undefined'])
  })

  it('ends at its limit, and leaves no timer if it ends before', async () => {
    const clock = new VirtualClock()
    const limit = { clock, timeout: 2000 }
    const silent = asked({ limit })
    const partial = asked({ limit })
    partial.receive('im')
    asked({ limit }).handler.closed()
    expect(clock.pendingTimers).to.equal(2)
    await clock.advance(2000)
    expect(silent.events).to.deep.equal(['destroy', 'end  silent for 2 s'])
    expect(partial.events).to.deep.equal(['destroy', 'end im has not ended its answer for 2 s'])
  })

  it('calls nothing after it is destroyed', async () => {
    const clock = new VirtualClock()
    const { events, transport, handler, receive } = asked({ enough: 1, limit: { clock, timeout: 2000 } })
    transport.destroy()
    receive('imok')
    handler.closed()
    await clock.advance(2000)
    expect(events).to.deep.equal(['destroy'])
  })

  it('ends with what dial throws', () => {
    const failures: unknown[] = []
    const dial: Dial = () => expect.fail('no such host')
    ask(dial, { host: 'a', port: 1 }, Buffer.from('ruok'), {}, (_answer, cause) => failures.push(cause?.message))
    expect(failures).to.deep.equal(['no such host'])
  })
})
