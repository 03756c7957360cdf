import Bowser from 'bowser'
import type { HttpRequest } from '../../../http/request.ts'

/**
 * Returns whether the browser discards the session cookie of this server, which makes a login impossible. Safari
 * discards `Secure` cookies from http URLs, including `http://localhost`.
 */
export const dropsSecureCookies = ({ userAgent }: HttpRequest, issuer: string): boolean => {
  if (!issuer.startsWith('http:') || userAgent === '') return false
  return Bowser.getParser(userAgent).getBrowserName() === 'Safari'
}
