// What the page shows when it is opened without a link.
import type { Story } from '../../world/story.ts'

/** The herd, just after the holder has released: eleven notifications are in flight. */
export const OPENING: Story = {
  scenario: { recipe: 'herd-mutex', clients: 12, servers: 1, seed: 1 },
  commands: [{ after: 143, at: 135, do: { kind: 'release', client: 1 } }],
  frames: 156,
}
