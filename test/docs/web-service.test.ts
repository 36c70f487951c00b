// Checks docs/service.md: runs its code.
import { testCodeBlocks } from '../support/document.ts'

describe('docs/service.md', () => {
  testCodeBlocks('docs/service.md', [/^charged with true\nnull\ntrue\n$/, /^\[ 'host-1' \]\n$/])
})
