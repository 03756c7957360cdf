import Bowser from 'bowser'
import type { HttpRequest } from '../../../http/request.ts'

/**
 * Returns whether the browser discards the session cookie of this server, which makes a login impossible. Safari
 * discards `Secure` cookies from http URLs, including `http://localhost`.
 */
export const dropsSecureCookies = ({ headers }: HttpRequest, issuer: string): boolean => {
  const userAgent = headers.get('user-agent')
  if (!issuer.startsWith('http:') || !userAgent) return false
  return Bowser.getParser(userAgent).getBrowserName() === 'Safari'
}
