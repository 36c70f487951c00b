// The figures that bench/profiles.md cites must be those of about the present code.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readDocument } from '../../support/document.ts'

const root = new URL('../../..', import.meta.url)

/** The cost of a call is measured anew at the latest after so many commits that change the session. */
const MOST = 15

/** Returns what git prints, or undefined if it fails. */
const git = async (...args: string[]): Promise<string | undefined> => {
  const result = await promisify(execFile)('git', args, { cwd: root }).catch(() => undefined)
  return result?.stdout.trim()
}

describe('the cited cost of a call', () => {
  const commits = [...readDocument('bench/profiles.md').matchAll(/measured on commit `([0-9a-f]{7,40})`/g)]

  it('has the commit on which it was measured', () => {
    expect(commits).to.have.length(1)
  })

  it(`is of a commit that at most ${MOST} later commits of src/session follow`, async function () {
    const commit = commits[0]?.[1] ?? ''
    const later = await git('rev-list', '--count', `${commit}..HEAD`, '--', 'src/session')
    const isComplete = (await git('rev-parse', '--is-shallow-repository')) === 'false'
    if (later === undefined && !isComplete) {
      // A package has no history, and a shallow clone only the end of it. The first commit there seems to change every file.
      const known = Number((await git('rev-list', '--count', 'HEAD', '--', 'src/session')) ?? 0)
      expect(known, 'commits of src/session in a history that begins after the cited one').to.be.at.most(MOST + 1)
      console.warn(
        `      not compared: this checkout has no commit ${commit}; fetch the whole history of the repository`,
      )
      return this.skip()
    }
    expect(later, `the history has no commit ${commit}`).to.be.a('string')
    expect(Number(later), 'measure anew: see "Calls before and after a change" in bench/method.md').to.be.at.most(MOST)
  })
})
