// Starts a program of the benchmark.
import { join } from 'node:path'
import { ChildProgram } from '../../../environment/child-program.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** @param program the file, from the root of the repository */
export const startProgram = (program: string, ...args: string[]): ChildProgram =>
  new ChildProgram(['--import', 'tsx', join(root, program), ...args])
