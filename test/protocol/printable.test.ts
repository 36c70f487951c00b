// Messages do not hand the control characters of others to a terminal.
import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MultiError, printable, ZooKeeperError } from '../../src/protocol/index.ts'
import { RecipeError } from '../../src/recipes/index.ts'
import { decodeInstance } from '../../src/recipes/members/service-instance.ts'
import { warn } from '../../src/recipes/members/service-provider.ts'
import { SaslError } from '../../src/sasl/index.ts'
import { Server } from '../../src/server/index.ts'
import { PermanentError } from '../../src/transport/transport.ts'

const EVIL = '/\u001b]0;title\u0007\u009b31m\u202e\r\n\ufeff'
const CLEAN = String.raw`/\u001b]0;title\u0007\u009b31m\u202e\u000d\u000a\ufeff`

describe('what others have written', () => {
  it('is printable without control characters and those that change the direction of text', () => {
    expect(printable(EVIL)).to.equal(CLEAN)
    expect(printable(CLEAN)).to.equal(CLEAN)
    expect(printable('a\tb\nc\u001b', '\t\n')).to.equal('a\tb\nc\\u001b')
    expect(printable('Zoë 動物 👩‍👩‍👧')).to.equal('Zoë 動物 👩‍👩‍👧')
  })

  it('is printable in the message of each error, and as it was in its path', () => {
    const context = { op: 'create', path: EVIL, fate: 'refused', detail: EVIL } as const
    const errors = [
      new ZooKeeperError('NONODE', context),
      new MultiError('NONODE', context, []),
      new RecipeError('LOST', EVIL, { detail: EVIL }),
      new SaslError(EVIL),
      new PermanentError(EVIL),
    ]
    for (const { message, name } of errors) {
      expect(message, name).to.contain(CLEAN)
      expect(printable(message), name).to.equal(message)
    }
    expect(errors.slice(0, 3).map(each => (each as ZooKeeperError).path)).to.deep.equal([EVIL, EVIL, EVIL])
  })

  it('is printable in the warning about an instance of a service, whose data is what others wrote', async () => {
    const error = (() => {
      try {
        return decodeInstance(Buffer.from(`{"name":${EVIL}`))
      } catch (each) {
        return each as Error
      }
    })() as Error
    expect(error.message).to.contain('\\u001b')
    expect(printable(error.message)).to.equal(error.message)
    expect(error.cause).to.equal(undefined)
    const warned = new Promise<Error>(resolve => process.once('warning', resolve))
    warn(EVIL, new Error(EVIL))
    expect((await warned).message)
      .to.equal(printable((await warned).message))
      .and.to.contain(CLEAN)
  })

  it('is printable in the error about a data file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'zkwire-printable-'))
    const dataFile = join(folder, 'data.json')
    for (const text of [EVIL, JSON.stringify({ format: EVIL, nodes: [] }), JSON.stringify({ [EVIL]: 1 })]) {
      await writeFile(dataFile, text)
      const error = await Server.start({ listen: false, dataFile }).then(
        () => expect.fail(),
        (each: unknown) => each as Error,
      )
      expect(error.message).to.contain('is not a state of this server')
      expect(printable(error.message)).to.equal(error.message)
    }
    await rm(folder, { recursive: true })
  })

  it('is printable in each warning of the sources', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(each => each.endsWith('.ts'))
    const calls = files.flatMap(file => readFileSync(join('src', file), 'utf8').match(/\bemitWarning\(\s*\S+/g) ?? [])
    expect(calls.length).to.be.greaterThan(3)
    expect(calls.filter(each => !/\(\s*printable\(/.test(each))).to.deep.equal([])
  })
})
