/** The specification's `svc_oauth2server.utils:jwt_verify_token`. */
export { jwtVerifyToken } from './jwt.ts'
