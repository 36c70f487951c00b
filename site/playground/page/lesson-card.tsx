import type { Props } from './app.tsx'

export function LessonCard({ playground }: Props) {
  return playground.isBusy ? null : null
}
