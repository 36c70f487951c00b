import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestOf } from '../../../bench/compare/digest.ts'
import { comparisonTable } from '../../../bench/compare/table.ts'
import { judge, verdictOf } from '../../../bench/compare/verdict.ts'
import { readHeader, readResult } from '../../../bench/output/result.ts'

// eslint-disable-next-line no-control-regex -- these characters are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

describe('a result that others have written', () => {
  let folder: string
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'zkwire-result-'))))
  after(() => rm(folder, { recursive: true }))
  const written = async (text: string) => {
    const file = join(folder, 'result.json')
    await writeFile(file, text)
    return file
  }

  it('prints no control characters when it is compared, whichever of its texts has some', async () => {
    const genuine = await readResult(fileURLToPath(new URL('../../../docs/herd.json', import.meta.url)))
    const evil = JSON.stringify(genuine, (_, value: unknown) =>
      typeof value === 'string' ? `\u001b[31m\u202e${value}` : value,
    )
    // The kind of the result is as it was.
    const file = await written(evil.replace(/("what":")[^"]*/, `$1${String((genuine as { what?: string }).what)}`))
    const digest = digestOf(await readResult(file))
    const { sentences } = verdictOf(judge(digest, digest, 0), 0)
    const text = [comparisonTable(digest, digest), comparisonTable(digestOf(genuine), digest), ...sentences].join('\n')
    expect(text).to.contain('\\u001b[31m')
    expect(text).not.to.match(CONTROL)
  })

  it('that is not JSON is refused without the control characters in it', async () => {
    const error = await readHeader(await written('\u001b[31m not JSON')).then(
      () => expect.fail(),
      (each: unknown) => each as Error,
    )
    expect(error.message).to.contain('result.json: ')
    expect(error.message).not.to.match(CONTROL)
  })
})
