// The worker in which a program runs. It has the code of this page, without its document: the page hands it over as a
// `data:` address. Such a worker has an origin of its own, which has no storage, and keeps to the policy of the page:
// no network, no other code.
import { codeOf, failUnhandled, linesIn, mainOf, RECEIVER, syntaxProblem, type Script } from '../../lab/script.ts'
import { ServedWorld } from '../../lab/served-world.ts'
import type { Answer, Request, StartWorld, Token } from '../../lab/world-port.ts'

/** What the page asks the worker. */
interface Question {
  readonly request: Request
  readonly token: Token
}

/** What the worker says: an answer, or a problem. A program can send anything else. */
interface Message {
  readonly answer?: Answer
  readonly token?: Token
  readonly problem?: string
}

/** Returns what starts a worker. @param ownCode the code of the page's script */
export const workersOf =
  (ownCode: string): StartWorld =>
  (text, { answered, failed }) => {
    // The code of the program is on the lines after those of the page, so an error tells its line.
    const code = `${ownCode}\n${codeOf(text, linesIn(ownCode))}`
    const worker = new Worker(`data:text/javascript;charset=utf-8,${encodeURIComponent(code)}`)
    worker.onmessage = ({ data }: MessageEvent<Message | null>) => {
      const { problem, answer, token } = data ?? {}
      if (typeof problem === 'string') failed(problem)
      else answered(answer ?? { error: '' }, token ?? NaN)
    }
    worker.onerror = (event: Event) => {
      event.preventDefault()
      // An event without a message is not one of the code.
      if (!(event instanceof ErrorEvent)) {
        failed('This browser does not run programs of the page.')
        return
      }
      failed(syntaxProblem(text, event.lineno - linesIn(ownCode) - 1, event.message.replace(/^Uncaught /, '')))
    }
    return {
      send: (request, token) => worker.postMessage({ request, token } satisfies Question),
      end: () => worker.terminate(),
    }
  }

/** Makes this script, which runs in a worker, the place where a program runs. */
export function servePrograms(): void {
  const say = postMessage as (message: Message) => void
  let world: ServedWorld | undefined
  const receive = (firstLine: number, lines: number, script: Script) =>
    (world ??= new ServedWorld(mainOf(firstLine, lines, script)))
  Object.assign(globalThis, { [RECEIVER]: receive })
  addEventListener('message', ({ data: { request, token } }: MessageEvent<Question>) => {
    void world?.answer(request).then(answer => say({ answer, token }))
  })
  addEventListener('unhandledrejection', event => {
    event.preventDefault()
    const reason: unknown = event.reason
    if (failUnhandled(reason)) return
    say({
      problem: `A promise was rejected, and the program did not catch it: ${reason instanceof Error ? reason.message : String(reason)}`,
    })
  })
}
