// What the page shows when it is opened without a link.
import type { Story } from '../../world/story.ts'

export const OPENING: Story = {
  scenario: { recipe: 'herd-mutex', clients: 12, servers: 1, seed: 1 },
  deeds: [],
  frames: 0,
}
