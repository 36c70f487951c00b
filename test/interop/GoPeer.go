// A peer with its own session that uses go-zookeeper. It reads one command per line from stdin and prints one line per
// command.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

var (
	servers = []string{os.Args[1]}
	conn    *zk.Conn
	locks   = map[string]*zk.Lock{}
)

func open() {
	timeout, err := strconv.Atoi(os.Args[2])
	if err == nil {
		conn, _, err = zk.Connect(servers, time.Duration(timeout)*time.Millisecond, zk.WithLogInfo(false))
	}
	if err != nil {
		panic(err)
	}
}

// ErrNoServer ends the requests that wait while the first attempt to reconnect fails. A request that is being written
// when the connection is reset ends with the error of the socket.
func isTransient(err error) bool {
	var socket *net.OpError
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.As(err, &socket)
}

// The library does not repeat a request whose connection was lost.
func retry(request func() error) error {
	for {
		err := request()
		if !isTransient(err) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func answered() error {
	_, _, err := conn.Exists("/")
	return err
}

// An error of Lock may leave its node in the queue, where only the end of the session removes it.
func acquire(path string) error {
	for {
		lock := zk.NewLock(conn, path, zk.WorldACL(zk.PermAll))
		err := lock.Lock()
		if err == nil {
			locks[path] = lock
			return nil
		}
		if !isTransient(err) {
			return err
		}
		// Close sends nothing while there is no connection.
		if err := retry(answered); err != nil {
			return err
		}
		conn.Close()
		open()
	}
}

func release(path string) error {
	err := retry(locks[path].Unlock)
	// A delete whose reply was lost is repeated.
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func execute(command, kind, path, argument string) (string, error) {
	switch command {
	case "session":
		// The id is known when a request was answered.
		err := retry(answered)
		return strconv.FormatInt(conn.SessionID(), 10), err
	case "read":
		var data []byte
		err := retry(func() (err error) { data, _, err = conn.Get(path); return })
		return string(data), err
	case "write":
		return "written", retry(func() error { _, err := conn.Set(path, []byte(argument), -1); return err })
	case "acquire":
		return "held", acquire(path)
	case "release":
		return "released", release(path)
	}
	return "", errors.New("unknown command " + command + " " + kind)
}

func main() {
	open()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := append(strings.SplitN(lines.Text(), " ", 4), "", "", "")
		reply, err := execute(words[0], words[1], words[2], words[3])
		if err != nil {
			reply = "!" + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(reply)
	}
	conn.Close()
}
