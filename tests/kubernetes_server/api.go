package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upgrade "k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/util/proxy"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

const namespace, container = "default", "shell"

// api has the routes of pods: all named web… in the namespace default exist, each with one container.
func api(runtime streaming.Server) http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("/api/v1/namespaces/{namespace}/pods/{pod}/{verb}", func(w http.ResponseWriter, r *http.Request) {
		if err := find(r); err != nil {
			refuse(w, err)
		} else if location, err := locate(runtime, r); err != nil {
			refuse(w, err)
		} else {
			connect(location, options(r.URL.Query())).ServeHTTP(w, r)
		}
	})
	return routes
}

// find says why a request's pod cannot be had, in the API server's words.
func find(r *http.Request) error {
	pod, verb := r.PathValue("pod"), r.PathValue("verb")
	pods := schema.GroupResource{Resource: "pods"}
	if asked := r.PathValue("namespace"); asked != namespace {
		reason := `User "joe" cannot create resource "pods/%s" in API group "" in the namespace %q`
		return apierrors.NewForbidden(pods, pod, fmt.Errorf(reason, verb, asked))
	}
	if !strings.HasPrefix(pod, "web") {
		return apierrors.NewNotFound(pods, pod)
	}
	if asked := r.URL.Query().Get("container"); asked != "" && asked != container {
		return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", asked, pod))
	}
	return nil
}

// locate has the runtime make a URL for a request, as the kubelet does.
func locate(runtime streaming.Server, r *http.Request) (*url.URL, error) {
	asked, pod := options(r.URL.Query()), r.PathValue("pod")
	switch r.PathValue("verb") {
	case "exec":
		answer, err := runtime.GetExec(&cri.ExecRequest{
			ContainerId: pod, Cmd: r.URL.Query()["command"],
			Stdin: asked.Stdin, Stdout: asked.Stdout, Stderr: asked.Stderr, Tty: asked.Tty,
		})
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return url.Parse(answer.Url)
	case "attach":
		answer, err := runtime.GetAttach(&cri.AttachRequest{
			ContainerId: pod, Stdin: asked.Stdin, Stdout: asked.Stdout, Stderr: asked.Stderr, Tty: asked.Tty,
		})
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return url.Parse(answer.Url)
	}
	return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", "", 0, false)
}

func options(query url.Values) proxy.Options {
	on := func(name string) bool { return query.Get(name) == "true" || query.Get(name) == "1" }
	return proxy.Options{Stdin: on("stdin"), Stdout: on("stdout"), Stderr: on("stderr") && !on("tty"), Tty: on("tty")}
}

// connect translates v5.channel.k8s.io to SPDY and passes older protocols on, as an API server does.
func connect(location *url.URL, options proxy.Options) http.Handler {
	return proxy.NewTranslatingHandler(
		upgrade.NewUpgradeAwareHandler(location, nil, false, true, responder{}),
		proxy.NewStreamTranslatorHandler(location, nil, 0, options),
		wsstream.IsWebSocketRequestWithStreamCloseProtocol,
	)
}

type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) }

func refuse(w http.ResponseWriter, err error) {
	status := responsewriters.ErrorToAPIStatus(err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}
