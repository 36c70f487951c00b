// Checks docs/keeper.md: its code. test/recipes/keeper.test.ts has the recipes, test/contract the operations.
import { testCodeBlocks } from '../support/document.ts'

describe('docs/keeper.md', () => {
  testCodeBlocks('docs/keeper.md', [/^true\n$/])
})
