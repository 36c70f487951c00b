// Answers 503 if ZooKeeper does not serve the call, or another request has the lock for too long: the caller may try again.
import { Catch, HttpException, type ArgumentsHost } from '@nestjs/common'
import { BaseExceptionFilter } from '@nestjs/core'
import { isCode } from 'zkwire'
import { RecipeError } from 'zkwire/recipes'

interface Response {
  setHeader(name: string, value: string): void
}

@Catch()
export class UnavailableFilter extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    if (!isUnavailable(error)) return super.catch(error, host)
    host.switchToHttp().getResponse<Response>().setHeader('retry-after', '1')
    super.catch(new HttpException(String(error), 503), host)
  }
}

const isUnavailable = (error: unknown): boolean =>
  isCode(error, 'CONNECTIONLOSS', 'OPERATIONTIMEOUT', 'SESSIONEXPIRED', 'CLOSED') ||
  (error instanceof RecipeError && (error.code === 'TIMEOUT' || error.code === 'LOST'))
