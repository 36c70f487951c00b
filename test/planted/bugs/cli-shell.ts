// Bugs of `zkwire shell` whose tests need no terminal.
import type { PlantedBug } from '../planted-bug.ts'

const words = { file: 'src/cli/shell/words.ts', caughtBy: 'test/cli/shell/words.test.ts' }
const completion = { file: 'src/cli/shell/completion.ts', caughtBy: 'test/cli/shell/completion.test.ts' }

export const cliShellBugs: readonly PlantedBug[] = [
  {
    ...words,
    bug: 'a # within a path starts a comment in zkwire shell',
    from: "if (character === '#' && word === undefined) break",
    to: "if (character === '#') break",
  },
  {
    ...words,
    bug: 'a name with a quote is completed so that zkwire shell cannot read it',
    from: `/[\\s'"\\\\]|^#/g`,
    to: `/[\\s\\\\]|^#/g`,
  },
  {
    ...words,
    file: 'src/cli/shell/node-path.ts',
    bug: 'cd .. of zkwire shell goes to the root from a node two levels deep',
    from: "if (name === '..') names.pop()",
    to: "if (name === '..') names.length = 0",
  },
  {
    ...completion,
    bug: 'zkwire shell asks for the children of a path with a slash at its end, which no server accepts',
    from: 'resolvePath(owner.current, `${parent}.`)',
    to: 'resolvePath(owner.current, parent)',
  },
  {
    ...completion,
    bug: 'a name with control characters reaches the terminal when zkwire shell completes a path',
    from: ' && escaped(each) === each',
    to: '',
  },
  {
    ...completion,
    bug: 'the value of an option counts as an argument in the completion of zkwire shell',
    from: " && optionOf(before[i - 1])?.type !== 'string'",
    to: ' && i >= 0',
  },
]
