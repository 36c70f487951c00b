// The figures that bench/profiles.md cites must be those of about the present code.
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readDocument } from '../../support/document.ts'

const root = new URL('../../..', import.meta.url)

/** The cited tables, in the order of the page, and the folders on which their figures depend. */
const TABLES = [
  { figures: 'the cost of a call', folders: ['src/session'] },
  {
    figures: 'the time of a hand-over',
    folders: ['src/recipes/call', 'src/recipes/node', 'src/recipes/queue', 'src/recipes/locks'],
  },
]
/** They are measured anew at the latest after so many commits that change these folders. */
const MOST = 15

/** Returns what git prints, or undefined if it fails. */
const git = async (...args: string[]): Promise<string | undefined> => {
  const result = await promisify(execFile)('git', args, { cwd: root }).catch(() => undefined)
  return result?.stdout.trim()
}

describe('the figures that bench/profiles.md cites', () => {
  const commits = [...readDocument('bench/profiles.md').matchAll(/measured on commit `([0-9a-f]{7,40})`/g)]

  it('have the commits on which they were measured', () => {
    expect(commits).to.have.length(TABLES.length)
  })

  for (const [i, { figures, folders }] of TABLES.entries())
    it(`include ${figures}, of a commit that at most ${MOST} later commits of ${folders.join(', ')} follow`, async function () {
      const commit = commits[i]?.[1] ?? ''
      const later = await git('rev-list', '--count', `${commit}..HEAD`, '--', ...folders)
      const isComplete = (await git('rev-parse', '--is-shallow-repository')) === 'false'
      if (later === undefined && !isComplete) {
        // A package has no history, and a shallow clone only the end of it. The first commit there seems to change every file.
        const known = Number((await git('rev-list', '--count', 'HEAD', '--', ...folders)) ?? 0)
        expect(known, 'commits of these folders in a history that begins after the cited one').to.be.at.most(MOST + 1)
        console.warn(
          `      not compared: this checkout has no commit ${commit}; fetch the whole history of the repository`,
        )
        return this.skip()
      }
      expect(later, `the history has no commit ${commit}`).to.be.a('string')
      expect(Number(later), 'measure anew: see "Calls before and after a change" in bench/method.md').to.be.at.most(
        MOST,
      )
    })
})
