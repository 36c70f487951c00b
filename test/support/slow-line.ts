// A network that carries so many bytes a second in each direction, in virtual time.
import type { Clock, Dial } from '../../src/index.ts'

/** The bytes of so many milliseconds arrive together. */
const SLICE = 20

export const slowLine =
  (clock: Clock, dial: Dial, bytesPerSecond: number): Dial =>
  (address, handler) => {
    const direction = () => {
      let freeAt = 0
      return (bytes: Uint8Array | undefined, pass: (bytes: Buffer) => void) => {
        const size = Math.ceil((bytesPerSecond * SLICE) / 1000)
        // The sender may use its buffer again.
        const copy = Buffer.from(bytes ?? [])
        for (let at = 0; at === 0 || at < copy.length; at += size) {
          const slice = copy.subarray(at, at + size)
          freeAt = Math.max(freeAt, clock.now()) + (1000 * slice.length) / bytesPerSecond
          clock.setTimeout(() => pass(slice), freeAt - clock.now())
        }
      }
    }
    const [down, up] = [direction(), direction()]
    const server = dial(address, {
      opened: () => handler.opened(),
      received: chunk => down(chunk, bytes => handler.received(bytes)),
      closed: cause => down(undefined, () => handler.closed(cause)),
    })
    return {
      write: bytes => up(bytes, slice => server.write(slice)),
      destroy: () => up(undefined, () => server.destroy()),
    }
  }
