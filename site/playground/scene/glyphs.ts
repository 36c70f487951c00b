// The shapes of the kinds of frames. Kinds differ in shape, so that they can be told apart without colour.

export type Kind = 'connect' | 'request' | 'answer' | 'notification' | 'ping' | 'replication'

export interface Glyph {
  /** What the legend calls it. */
  title: string
  /** SVG path data around the origin, in a square of about 12 pixels. The same data draws on the canvas. */
  path: string
  /** If true, only the outline is drawn. */
  hollow: boolean
}

const circle = (r: number) => `M${-r},0A${r},${r},0,1,1,${r},0A${r},${r},0,1,1,${-r},0Z`

export const GLYPHS: Readonly<Record<Kind, Glyph>> = {
  request: { title: 'request', path: 'M-4.5,-4.5H4.5V4.5H-4.5Z', hollow: true },
  answer: { title: 'answer', path: circle(5), hollow: false },
  notification: { title: 'notification', path: 'M0,-7.5L7,5.5H-7Z', hollow: false },
  ping: { title: 'ping', path: circle(2.6), hollow: true },
  connect: { title: 'handshake', path: 'M0,-6.5L6.5,0L0,6.5L-6.5,0Z', hollow: false },
  replication: {
    title: 'between servers',
    path: 'M-2,-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z',
    hollow: false,
  },
}

/** Marks the moment in which a client has the lock. */
export const STAR = 'M0,-8L2.1,-2.9L7.6,-2.5L3.4,1.1L4.7,6.5L0,3.6L-4.7,6.5L-3.4,1.1L-7.6,-2.5L-2.1,-2.9Z'

/** Marks a lost frame. */
export const CROSS = 'M-5,-5L5,5M5,-5L-5,5'
