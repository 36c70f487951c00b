// `zkwire judge` in this process, with programs that misbehave. test/cli/process/judge.test.ts has locks.
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inProcess } from './in-process.ts'

/** A lock that anyone gets at once, always with the same token. */
const NO_LOCK = 'echo ready; while read order; do if [ $order = lock ]; then echo in 1; else echo out; fi; done'

describe('zkwire judge of a program that misbehaves', function () {
  this.timeout(60_000)
  let folder = ''
  before(() => (folder = mkdtempSync(join(tmpdir(), 'zkwire-judge-'))))
  after(() => rmSync(folder, { recursive: true }))

  async function judge(script: string, ...options: string[]) {
    const { run } = await inProcess({ connectString: 'memory', dial: () => expect.fail('no session is needed') })
    return run(['judge', '--trials', '1', '--copies', '2', ...options, '--', 'sh', '-c', script], {
      env: { PATH: process.env['PATH'] ?? '' },
    })
  }

  for (const [what, script] of [
    ['lines', 'exec yes'],
    ['one line', "exec tr '\\0' x < /dev/zero"],
  ] as const)
    it(`stops reading if it prints ${what} without end`, async () => {
      const { status, out } = await judge(script)
      expect(status).to.equal(1)
      expect(out).to.match(/^a copy fails or ends: copy \d prints without end/)
    })

  it('escapes what it has printed, in the verdict and in the picture', async () => {
    const svg = join(folder, 'verdict.svg')
    for (const script of [
      "printf '\\033[2Jerror\\n' >&2; exit 3",
      "echo ready; read order; printf 'failed \\033[2J\\n'; cat",
    ]) {
      const { status, out } = await judge(script, '--svg', svg)
      expect(status).to.equal(1)
      for (const text of [out, readFileSync(svg, 'utf8')]) {
        // eslint-disable-next-line no-control-regex -- none of them must be there
        expect(text).not.to.match(/[\u0000-\u0009\u000b-\u001f]/)
      }
      expect(out).to.contain('\\u001b[2J')
    }
  })

  it('finds another mistake after one that does not count', async () => {
    const { status, out } = await judge(NO_LOCK, '--allow', 'token')
    expect(out).to.match(/^two copies hold the lock at the same time/)
    expect(status).to.equal(1)
    expect((await judge(NO_LOCK, '--allow', 'token,overlap')).status).to.equal(0)
  })

  it('says at once that a picture or a trial cannot be written', async () => {
    for (const option of ['svg', 'save']) {
      const { status, out, err } = await judge(NO_LOCK, `--${option}`, join(folder, 'missing', 'file'))
      expect([status, out]).to.deep.equal([64, ''])
      expect(err).to.match(
        new RegExp(`^zkwire judge: --${option}: cannot write to the folder \\S+missing \\(ENOENT\\) `),
      )
    }
  })
})
