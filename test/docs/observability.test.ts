// Checks docs/observability.md: its tables list what is there, and its examples work with prom-client and pino.
import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import { Registry } from 'prom-client'
import ts from '@typescript/typescript6'
import { connect } from '../../src/index.ts'
import { Mutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { readDocument, testCodeBlocks } from '../support/document.ts'
import { VirtualServer } from '../support/virtual-server.ts'
import { abortOf } from '../support/settled.ts'

const page = readDocument('docs/observability.md')

/** The cells of the rows whose first cell matches. */
const rowsOf = (first: RegExp) =>
  page
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.slice(2, -2).split(' | '))
    .filter(([cell = '']) => first.test(cell))

const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)

/** The fields of the interfaces in the files, by the names of the interfaces. */
function fieldsOf(...files: string[]): Map<string, string[]> {
  const interfaces = files
    .flatMap(file => [...ts.createSourceFile(file, readDocument(file), ts.ScriptTarget.Latest, true).statements])
    .filter(ts.isInterfaceDeclaration)
  const own = new Map(interfaces.map(each => [each.name.text, each.members.map(({ name }) => name?.getText() ?? '')]))
  return new Map(
    interfaces.map(({ name, heritageClauses = [] }) => {
      const parents = heritageClauses.flatMap(({ types }) => types.map(type => type.getText()))
      return [name.text, [...parents.flatMap(parent => own.get(parent) ?? []), ...(own.get(name.text) ?? [])]]
    }),
  )
}

const load = async <T>(file: string, name: string): Promise<T> =>
  ((await import(join('..', '..', 'examples', 'observability', file))) as Record<string, T>)[name] as T

/** Subscribes the example of pino. Returns its lines, to which further ones are added. */
async function logged(): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = []
  const output = new Writable({
    write(line: Buffer, _, done) {
      lines.push(JSON.parse(String(line)) as Record<string, unknown>)
      done()
    },
  })
  ;(await load<(log: Logger) => void>('log.js', 'logEvents'))(pino(output))
  return lines
}

/** Runs a session that reads, fails, holds a lock, and loses one. */
async function live(): Promise<void> {
  await using server = await Server.start({ listen: false })
  const zk = await connect(server.connectString, { dial: server.dial })
  await zk.delete('/missing').catch(() => undefined)
  await new Mutex(zk, '/lock').use(() => undefined)
  const held = await new Mutex(zk, '/lock').acquire()
  const lost = abortOf(held.signal)
  server.dropConnections()
  server.expireSession(zk.sessionId)
  await lost
  await zk.close()
}

describe('docs/observability.md', () => {
  testCodeBlocks('docs/observability.md', [/exists \{path: "\/zookeeper"/])

  it('shows the code of the examples', () => {
    for (const file of ['prometheus', 'log'])
      expect(page).to.include(`\`\`\`js\n${readDocument(`examples/observability/${file}.js`)}\`\`\``)
  })

  it('lists each channel with the type and the fields of its message', () => {
    const sources = ['src/session/diagnostics.ts', 'src/recipes/locks/acquiring.ts']
    const published = sources.flatMap(file => [...readDocument(file).matchAll(/channel\('([\w:]+)'\)/g)])
    const fields = fieldsOf(...sources)
    const rows = rowsOf(/^`zkwire:/)
    expect(rows.map(([channel]) => namesIn(channel)[0])).to.have.members(published.map(([, name]) => name))
    for (const [channel, type, , listed] of rows)
      expect(namesIn(listed), channel).to.have.members(fields.get(namesIn(type)[0] ?? '') ?? [])
    expect(/`zk\.stats`.*counts the ([^.]*) of one session/.exec(page)?.[1]).to.be.a('string')
    for (const name of fields.get('SessionStats') ?? []) expect(page).to.include(`\`${name}\``)
  })

  it('lists each metric and each span of zkwire/opentelemetry', () => {
    const metrics = [
      ...readDocument('src/opentelemetry/metrics.ts').matchAll(/(?:\.create\w+|= histogram)\(\s*'([\w.]+)'/g),
    ]
    expect(metrics).to.have.length.above(5)
    expect(rowsOf(/^`(zkwire\.|db\.)/).map(([name]) => namesIn(name)[0])).to.have.members(
      metrics.map(([, name]) => name),
    )
    const spans = [...readDocument('src/opentelemetry/spans.ts').matchAll(/startSpan\('([\w.]+)'/g)]
    expect(rowsOf(/^`lock\./).map(([name]) => namesIn(name)[0])).to.have.members(spans.map(([, name]) => name))
    for (const [, name = ''] of readDocument('src/opentelemetry/attributes.ts').matchAll(
      /'((?:zkwire|db|error|server)\.[\w.]+)'/g,
    ))
      expect(page).to.include(`\`${name}\``)
  })

  it('has an example whose metrics a scraper of Prometheus reads over HTTP', async () => {
    const registry = new Registry()
    ;(await load<(register: Registry) => void>('prometheus.js', 'collectMetrics'))(registry)
    const server = createServer((_, response) => void registry.metrics().then(text => response.end(text)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      await live()
      const { port } = server.address() as AddressInfo
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })
      const lines = (await response.text()).split('\n')
      expect(lines).to.include.members([
        'zkwire_call_seconds_count{op="delete",outcome="NONODE"} 1',
        'zkwire_state_changes_total{state="expired"} 1',
        'zkwire_lock_wait_seconds_count{lock="/lock",outcome="held"} 2',
        'zkwire_locks_lost_total{lock="/lock"} 1',
        'zkwire_locks_held 0',
      ])
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  })

  it('has an example that writes a line of pino for each change', async () => {
    const lines = await logged()
    await live()
    const told = lines.map(({ msg, state, cause }) => [msg, state ?? cause].filter(Boolean).join(' '))
    expect(told).to.include.members(['connected', 'state changed connected', 'lock released', 'state changed expired'])
    expect(told.filter(each => each === 'lock held')).to.have.length(2)
    expect(told.filter(each => each.startsWith('lock lost'))).to.deep.equal(['lock lost SESSIONEXPIRED'])
    expect(lines.find(({ msg }) => msg === 'lock lost')?.['level']).to.equal(50)
  })

  it('has an example that writes one line for an outage, however many attempts fail', async () => {
    const lines = await logged()
    await using virtual = await VirtualServer.start()
    const { server, clock } = virtual
    await server.stop()
    const connecting = virtual.connect({ connectTimeout: 60_000 })
    await clock.advance(10_000)
    await server.start()
    const zk = await clock.until(connecting)
    await server.stop()
    await clock.advance(10_000)
    await server.start()
    await clock.until(zk.whenConnected())
    const told = lines.filter(({ msg }) => /connect/.test(String(msg)))
    expect(told.map(({ msg }) => msg)).to.deep.equal(['no connection yet', 'connected', 'connection lost', 'connected'])
    const [first, second] = [Number(told[1]?.['failures']), Number(told[3]?.['failures'])]
    expect(Math.min(first, second)).to.be.above(3)
    expect(first + second).to.equal(zk.stats.disconnects)
  })
})
