// The spans: a call, an attempt to acquire a lock, the hand-over at its end, and the time for which the lock is held.
import { context, SpanKind, SpanStatusCode, trace, type Attributes, type Span, type Tracer } from '@opentelemetry/api'
import type { CallMessage, ConnectMessage, RequestMessage } from '../client/index.ts'
import type { AcquireMessage, ReleaseMessage } from '../recipes/index.ts'
import { acquireAttributes, callAttributes, outcomeAttributes, releaseAttributes } from './attributes.ts'

export class Spans {
  readonly #tracer: Tracer
  /** The spans that are not ended, by the message of a call, or by what is held. */
  readonly #open = new Map<object, Span>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  /** The message is published in the caller's context, so the caller's span is the parent. */
  onCall(message: CallMessage): void {
    const { op, path } = message
    const attributes = { ...callAttributes(op), 'zkwire.path': path }
    this.#open.set(message, this.#tracer.startSpan(op, { kind: SpanKind.CLIENT, attributes }))
  }

  onRequest(message: RequestMessage, address: ConnectMessage['address'] | undefined): void {
    this.#end(message, outcomeAttributes(message, address), message.error)
  }

  onAcquire(message: AcquireMessage): void {
    const { lock, op, held, error, ms, handOverMs } = message
    const end = Date.now()
    const attributes = { ...acquireAttributes(message), 'zkwire.lock.method': op }
    const span = this.#tracer.startSpan('lock.acquire', { startTime: end - ms, attributes })
    setStatus(span, error)
    if (handOverMs !== undefined) {
      const startTime = end - handOverMs
      const ofAcquire = trace.setSpan(context.active(), span)
      const handOver = { startTime, attributes: { 'zkwire.lock.path': lock } }
      this.#tracer.startSpan('lock.handover', handOver, ofAcquire).end(end)
    }
    span.end(end)
    // A lock that is lost already has had its message.
    if (held === null || held.signal.aborted) return
    const holding = { 'zkwire.lock.path': lock, 'zkwire.lock.node': held.path, 'zkwire.lock.token': String(held.token) }
    this.#open.set(held, this.#tracer.startSpan('lock.hold', { startTime: end, attributes: holding }))
  }

  onRelease(message: ReleaseMessage): void {
    this.#end(message.held, releaseAttributes(message), message.error)
  }

  /** Ends the spans that are not ended. */
  close(): void {
    for (const span of this.#open.values()) span.end()
    this.#open.clear()
  }

  #end(key: object, attributes: Attributes, error: unknown): void {
    const span = this.#open.get(key)
    if (span === undefined) return
    this.#open.delete(key)
    span.setAttributes(attributes)
    setStatus(span, error)
    span.end()
  }
}

function setStatus(span: Span, error: unknown): void {
  if (error === undefined) return
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : 'aborted' })
}
