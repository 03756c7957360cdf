import { notFound } from '../responses/problem.ts'
import type { SettingsRequest } from './settings-request.ts'

/** @throws OAuthError 404 for what is no id of a token */
export const asTokenId = (text: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}

/** The id of the token that the address names. @throws OAuthError 404 for what is no id */
export const tokenIdOf = ({ http }: SettingsRequest): number => asTokenId(http.param('id'))
