import { notFound } from '../problem.ts'
import type { Visit } from './visit.ts'

/** The id of the token that the address names. @throws OAuthError 404 for what is no id */
export const tokenIdOf = ({ http }: Visit): number => {
  const text = http.param('id')
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}
