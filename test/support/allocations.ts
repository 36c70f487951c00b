// Measures how much memory code requests from Buffer.

const allocators = ['alloc', 'allocUnsafe', 'allocUnsafeSlow', 'concat'] as const

/** Returns the sizes of the buffers that `work` allocates, in order, without empty ones. */
export function allocationsOf(work: () => void): number[] {
  const sizes: number[] = []
  const originals = allocators.map(name => [name, Reflect.get(Buffer, name) as (...args: unknown[]) => Buffer] as const)
  for (const [name, original] of originals)
    Reflect.set(Buffer, name, (...args: unknown[]) => {
      const buffer = original(...args)
      if (buffer.length > 0) sizes.push(buffer.length)
      return buffer
    })
  try {
    work()
  } finally {
    for (const [name, original] of originals) Reflect.set(Buffer, name, original)
  }
  return sizes
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
