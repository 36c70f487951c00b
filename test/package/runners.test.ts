// The package in test runners and in plain Node, without settings for the package.
import { expect } from 'chai'
import { body, call, expected, header } from './program.ts'
import { nodes, run, userWithPackage, write } from './user.ts'

const test = `${body}
test('the package works', async () => {
  expect(await use()).toBe('${expected}')
})
`
const files = {
  'plain/import.mjs': header.import + body + call,
  'plain/require.cjs': header.require + body + call,
  'jest/package.json': '{}',
  'jest/require.test.js': header.require + test,
  'jest-esm/package.json': '{ "type": "module" }',
  'jest-esm/import.test.js': header.import + test,
  'jest-babel/package.json': '{}',
  'jest-babel/babel.config.json': '{ "presets": [["@babel/preset-env", { "targets": "node 20" }]] }',
  'jest-babel/import.test.js': header.import + test,
  'ts-jest/package.json': '{ "jest": { "preset": "ts-jest" } }',
  'ts-jest/tsconfig.json': '{ "compilerOptions": { "strict": true, "types": ["jest", "node"] } }',
  'ts-jest/import.test.ts': header.import + test,
  'vitest/package.json': '{}',
  'vitest/import.test.js': `import { expect, test } from 'vitest'\n${header.import}${test}`,
}

describe('the package', () => {
  let directory: string

  before(async function () {
    this.timeout(300_000)
    ;({ directory } = await userWithPackage())
    await write(directory, files)
  })

  for (const [name, node] of Object.entries(nodes))
    describe(`on ${name}`, () => {
      for (const program of ['plain/import.mjs', 'plain/require.cjs'])
        it(`works in ${program}, without a warning`, async () => {
          expect(await run(directory, '.', node, `node ${program}`)).to.deep.equal({ code: 0, output: `${expected}\n` })
        })

      it('works in Jest with require, with Babel, and in ts-jest', async () => {
        const { code, output } = await run(directory, '.', node, 'jest --projects jest jest-babel ts-jest')
        expect(code, output).to.equal(0)
        expect(output).to.match(/^Tests: +3 passed, 3 total$/m)
      })

      it('works in Jest with its ES modules', async () => {
        const { code, output } = await run(
          directory,
          'jest-esm',
          node,
          'node --experimental-vm-modules ../../node_modules/.bin/jest',
        )
        expect(code, output).to.equal(0)
        expect(output).to.match(/^Tests: +1 passed, 1 total$/m)
      })

      it('works in vitest', async () => {
        const { code, output } = await run(directory, 'vitest', node, 'vitest run')
        expect(code, output).to.equal(0)
        expect(output).to.match(/Tests +1 passed \(1\)/)
      })
    })
})
